package dev.dblock.sample.billing;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

import org.springframework.data.annotation.Id;
import org.springframework.data.mongodb.core.mapping.Document;

/**
 * Order of a customer.
 *
 * @param id the number
 * @param customer the customer
 * @param cents the amount
 * @param placedAt the time
 * @param invoice the invoice of this order, or {@link #OPEN}
 */
@Document("orders")
record Order(@Id @Nullable String id, String customer, long cents, Instant placedAt, String invoice) {

	static final String OPEN = "open";

	static Order of(String customer, long cents) {
		return new Order(null, customer, cents, Instant.now(), OPEN);
	}

}
