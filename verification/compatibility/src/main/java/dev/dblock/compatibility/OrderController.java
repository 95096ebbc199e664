package dev.dblock.compatibility;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/**
 * Calls a method with a lock for each request, and handles no exception.
 */
@RestController
public class OrderController {

	private final OrderService orders;

	OrderController(OrderService orders) {
		this.orders = orders;
	}

	@PostMapping("/settle")
	public String settle(@RequestParam("id") String id) {
		return this.orders.settle(new Order(id)).orElseThrow();
	}

}
