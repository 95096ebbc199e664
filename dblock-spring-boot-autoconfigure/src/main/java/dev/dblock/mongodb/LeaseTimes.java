package dev.dblock.mongodb;

import java.time.Duration;

/**
 * How long what is written lasts, in milliseconds, the unit of the stored dates.
 *
 * @param clockAllowance by how much the clocks that may decide about one lock can differ
 * @param retention how long the document of an unused lock is kept
 */
record LeaseTimes(long clockAllowance, long retention) {

	/** A client's clock and a server's may run apart by a thousandth. */
	static final long DRIFT = 1000;

	static LeaseTimes of(MongoLockSettings settings) {
		return new LeaseTimes(millis(settings.clockAllowance()), millis(settings.retention()));
	}

	/**
	 * By how much later than it has to be a document may be cleaned up, so that its entry
	 * in the index needs not be changed by each grant and each renewal.
	 * @return a small part of the retention
	 */
	long retentionSlack() {
		return this.retention / 24;
	}

	/**
	 * How long the name stays taken when a holder is promised some time. The drift is not
	 * capped: a holder without an answer counts all of that time by its own clock.
	 * @param promised what the holder is promised
	 * @return the time until the name is free for others
	 */
	long untilFree(long promised) {
		return promised + this.clockAllowance + driftOf(promised);
	}

	static long driftOf(long span) {
		return (span + DRIFT - 1) / DRIFT;
	}

	/**
	 * Rounded up: nobody gets less than was asked for.
	 * @param duration any duration
	 * @return its milliseconds
	 */
	static long millis(Duration duration) {
		return duration.plusNanos(999_999).toMillis();
	}

}
