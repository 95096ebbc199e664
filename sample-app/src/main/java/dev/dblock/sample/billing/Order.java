package dev.dblock.sample.billing;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

import org.springframework.data.annotation.Id;
import org.springframework.data.mongodb.core.mapping.Document;

/**
 * What somebody has bought.
 *
 * @param id its number
 * @param customer who
 * @param cents for how much
 * @param placedAt when
 * @param invoice the invoice that it is on, or {@link #OPEN}
 */
@Document("orders")
record Order(@Id @Nullable String id, String customer, long cents, Instant placedAt, String invoice) {

	static final String OPEN = "open";

	static Order of(String customer, long cents) {
		return new Order(null, customer, cents, Instant.now(), OPEN);
	}

}
