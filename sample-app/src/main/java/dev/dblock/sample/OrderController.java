package dev.dblock.sample;

import dev.dblock.LockUnavailableException;

import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * {@code POST /orders/4711/settlement} waits for the order's lock, and says who has it
 * when the wait was not enough.
 */
@RestController
class OrderController {

	private final OrderService orders;

	OrderController(OrderService orders) {
		this.orders = orders;
	}

	@PostMapping("/orders/{order}/settlement")
	String settle(@PathVariable String order) throws InterruptedException {
		this.orders.settle(order);
		return "Order " + order + " is settled\n";
	}

	@ExceptionHandler
	ProblemDetail taken(LockUnavailableException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, ex.getMessage());
	}

}
