package dev.dblock.mongodb.request;

import java.time.Duration;

import dev.dblock.job.JobFiring;
import org.jspecify.annotations.Nullable;

/**
 * How long what is written lasts, in milliseconds, the unit of the stored dates.
 *
 * @param clockAllowance by how much the clocks that may decide about one lock can differ
 * @param retention how long the document of an unused lock is kept
 */
public record LeaseTimes(long clockAllowance, long retention) {

	/** A client's clock and a server's may run apart by a thousandth. */
	static final long DRIFT = 1000;

	private static final long JOB_KEPT = Duration.ofDays(400).toMillis();

	public static LeaseTimes of(Duration clockAllowance, Duration retention) {
		return new LeaseTimes(millis(clockAllowance), millis(retention));
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
	 * By how much later a document may be cleaned up that is or was that of a job.
	 * Everything beyond that was written by hand.
	 * @return the time for which the document of a job is kept, with what is added to it
	 */
	long longestRetentionSlack() {
		return JOB_KEPT + retentionSlack();
	}

	/**
	 * For how much longer than others the document of a job is kept: until its next
	 * planned time, of which the longest usual distance is a year.
	 * @param firing the firing of the job; {@code null} for a plain lock
	 * @return the time
	 */
	static long keptFor(@Nullable JobFiring firing) {
		return (firing != null) ? JOB_KEPT : 0;
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
	public static long millis(Duration duration) {
		return duration.plusNanos(999_999).toMillis();
	}

}
