package dev.dblock.mongodb.request;

import java.time.Duration;
import java.time.Instant;

import dev.dblock.claim.Claim;
import org.jspecify.annotations.Nullable;

/**
 * The durations of stored dates, in milliseconds, the unit of these dates.
 *
 * @param clockAllowance the maximum difference between the clocks that may decide about
 * one lock
 * @param retention how long the document of an unused lock is kept
 */
record LeaseTimes(long clockAllowance, long retention) {

	/** The clocks of a client and of a server may drift apart by a thousandth. */
	static final long DRIFT = 1000;

	static final long CLAIM_KEPT = Duration.ofDays(400).toMillis();

	/**
	 * The latest date of a cleanup, in milliseconds: the document of a paused job stays.
	 */
	static final long NEVER = Instant.parse("9999-12-31T00:00:00Z").toEpochMilli();

	static LeaseTimes of(Duration clockAllowance, Duration retention) {
		return new LeaseTimes(millis(clockAllowance), millis(retention));
	}

	/**
	 * Return by how much the cleanup of a document may be later than necessary, so that
	 * not every grant and every renewal changes the document's index entry.
	 * @return a small part of the retention
	 */
	long retentionSlack() {
		return this.retention / 24;
	}

	/**
	 * Return how much longer than others the document of a claim is kept: until the next
	 * one, for which the longest usual interval is a year.
	 * @param claim the claim; {@code null} for a plain lock
	 * @return the time
	 */
	static long keptFor(@Nullable Claim claim) {
		return (claim != null) ? CLAIM_KEPT : 0;
	}

	/**
	 * Return how long the lock remains held when a lease is promised to a holder. The
	 * drift is not capped, since a holder without an answer measures the whole lease by
	 * its own clock.
	 * @param promised the time promised to the holder
	 * @return the time until the lock is free for others
	 */
	long untilFree(long promised) {
		return promised + this.clockAllowance + driftOf(promised);
	}

	static long driftOf(long span) {
		return (span + DRIFT - 1) / DRIFT;
	}

	/**
	 * Convert a duration to milliseconds. Rounds up, so that no holder gets less than was
	 * requested.
	 * @param duration any duration
	 * @return its milliseconds
	 */
	static long millis(Duration duration) {
		return duration.plusNanos(999_999).toMillis();
	}

}
