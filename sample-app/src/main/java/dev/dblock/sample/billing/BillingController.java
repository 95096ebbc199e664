package dev.dblock.sample.billing;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import dev.dblock.LockException;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOperations;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.annotation.DurationFormat.Style;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/**
 * {@code POST /orders} places an order, {@code POST /accounts/alder/settlement} bills a
 * customer now, {@code POST /report} makes the report and {@code POST /export} sends
 * invoices. The last three report the holder if the lock is held. {@code GET /locks}
 * shows all locks.
 */
@RestController
class BillingController {

	private final BillingStore store;

	private final Accounts accounts;

	private final Reports reports;

	private final Exports exports;

	private final LockOperations locks;

	BillingController(BillingStore store, Accounts accounts, Reports reports, Exports exports, LockOperations locks) {
		this.store = store;
		this.accounts = accounts;
		this.reports = reports;
		this.exports = exports;
		this.locks = locks;
	}

	@PostMapping("/orders")
	@ResponseStatus(HttpStatus.CREATED)
	void place(@RequestBody NewOrder order) {
		this.store.place(Order.of(order.customer(), order.cents()));
	}

	@PostMapping("/accounts/{customer}/settlement")
	Map<String, Integer> settle(@PathVariable String customer) throws InterruptedException {
		return Map.of("orders", this.accounts.settle(customer).map((invoice) -> invoice.orders().size()).orElse(0));
	}

	@PostMapping("/report")
	Report report(@RequestParam(defaultValue = "0s") @DurationFormat(style = Style.SIMPLE) Duration wait)
			throws InterruptedException {
		return this.reports.make(wait);
	}

	@PostMapping("/export")
	Map<String, Integer> export() throws InterruptedException {
		return Map.of("permit", this.exports.send());
	}

	@GetMapping("/locks")
	List<LockInfo> locks() {
		return this.locks.listAll("", 1000).locks();
	}

	@ExceptionHandler
	ProblemDetail taken(LockUnavailableException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.CONFLICT, ex.getMessage());
	}

	@ExceptionHandler({ LockLostException.class, LockShutdownException.class })
	ProblemDetail lost(LockException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.SERVICE_UNAVAILABLE, ex.getMessage());
	}

	/**
	 * New order of a request.
	 *
	 * @param customer the customer
	 * @param cents the amount
	 */
	record NewOrder(String customer, long cents) {
	}

}
