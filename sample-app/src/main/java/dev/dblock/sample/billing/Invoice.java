package dev.dblock.sample.billing;

import java.time.Instant;
import java.util.List;
import java.util.Objects;

import org.springframework.data.annotation.Id;
import org.springframework.data.mongodb.core.mapping.Document;

/**
 * Invoice of a customer for some orders.
 *
 * @param id the number: the customer and the token, so one for each grant of the account
 * @param customer the customer
 * @param orders the numbers of the orders
 * @param cents the amount
 * @param token the fencing token of the account's lock
 * @param writtenBy the instance
 * @param writtenAt the time
 */
@Document("invoices")
record Invoice(@Id String id, String customer, List<String> orders, long cents, long token, String writtenBy,
		Instant writtenAt) {

	static Invoice of(String customer, List<Order> orders, long token, String writtenBy) {
		List<String> numbers = orders.stream().map((order) -> Objects.requireNonNull(order.id())).toList();
		long cents = orders.stream().mapToLong(Order::cents).sum();
		return new Invoice(customer + "-" + token, customer, numbers, cents, token, writtenBy, Instant.now());
	}

}
