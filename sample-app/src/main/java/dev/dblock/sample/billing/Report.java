package dev.dblock.sample.billing;

import java.time.Instant;

import org.springframework.data.annotation.Id;
import org.springframework.data.mongodb.core.mapping.Document;

/**
 * What all customers have been asked for.
 *
 * @param id always the same one: each report replaces the one before
 * @param cents how much
 * @param accounts how many customers
 * @param token the fencing token of its lock
 * @param writtenBy the instance
 * @param writtenAt when
 */
@Document("reports")
public record Report(@Id String id, long cents, int accounts, long token, String writtenBy, Instant writtenAt) {

	static Report of(long cents, int accounts, long token, String writtenBy) {
		return new Report("report", cents, accounts, token, writtenBy, Instant.now());
	}

}
