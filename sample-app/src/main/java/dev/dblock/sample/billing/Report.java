package dev.dblock.sample.billing;

import java.time.Instant;

import org.springframework.data.annotation.Id;
import org.springframework.data.mongodb.core.mapping.Document;

/**
 * Report on the invoices of all customers.
 *
 * @param id always the same, so that each report replaces the one before
 * @param cents the total amount
 * @param accounts the number of customers
 * @param token the fencing token of its lock
 * @param writtenBy the instance
 * @param writtenAt the time
 */
@Document("reports")
public record Report(@Id String id, long cents, int accounts, long token, String writtenBy, Instant writtenAt) {

	static Report of(long cents, int accounts, long token, String writtenBy) {
		return new Report("report", cents, accounts, token, writtenBy, Instant.now());
	}

}
