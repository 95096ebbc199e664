package dev.dblock.core.lease;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The two clocks of this process. Leases are measured by the monotonic clock. The wall
 * clock can only make a lease unproven, see {@link LeaseDeadline#suspect(LockClock)}. The
 * engine also pauses and draws random numbers here, and nowhere else, so that a
 * simulation can decide about all of them.
 */
public interface LockClock {

	/** Half of the default clock allowance. */
	long MOST_UNNOTICED_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

	/**
	 * Return the clocks for a store that keeps a lock for longer than its lease. A
	 * suspension of this machine may use up half of that.
	 */
	static LockClock with(Duration clockAllowance) {
		long unnoticed = Math.max(LeaseDeadline.NOISE_NANOS,
				Math.min(MOST_UNNOTICED_NANOS, clockAllowance.dividedBy(2).toNanos()));
		return new LockClock() {

			@Override
			public long unnoticedNanos() {
				return unnoticed;
			}

		};
	}

	default long nanoTime() {
		return System.nanoTime();
	}

	default long wallMillis() {
		return System.currentTimeMillis();
	}

	/**
	 * Return the monotonic clock for pauses and time limits. Unlike that of the leases,
	 * it advances while a thread is parked in tests too.
	 */
	default long pauseNanos() {
		return System.nanoTime();
	}

	/**
	 * Pause the current thread until it is unparked or interrupted, but no longer than
	 * the given time.
	 */
	default void park(Object blocker, long nanos) {
		LockSupport.parkNanos(blocker, nanos);
	}

	/**
	 * Draw a random number.
	 */
	default long random(long least, long bound) {
		return ThreadLocalRandom.current().nextLong(least, bound);
	}

	/**
	 * Create the identity of an acquisition. It is read from the generator of the system,
	 * so that a process that was copied while it ran (a restored snapshot) does not
	 * repeat the ids of its twin.
	 */
	default String newId() {
		byte[] bytes = new byte[16];
		Ids.RANDOM.nextBytes(bytes);
		return Ids.ENCODER.encodeToString(bytes);
	}

	/**
	 * Return how long this machine can be suspended without making a lease unproven. The
	 * drift of the clocks, which the allowance of the store also covers, is added.
	 */
	default long unnoticedNanos() {
		return MOST_UNNOTICED_NANOS;
	}

	/** Created with the first id. */
	final class Ids {

		private static final SecureRandom RANDOM = new SecureRandom();

		private static final Base64.Encoder ENCODER = Base64.getUrlEncoder().withoutPadding();

		private Ids() {
		}

	}

}
