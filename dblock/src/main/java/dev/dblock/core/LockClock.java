package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The two clocks of this process. Leases are measured by the monotonic clock. The wall
 * clock can only make a lease unproven, see {@link LeaseDeadline#suspect(LockClock)}.
 */
interface LockClock {

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
	 * Return how long this machine can be suspended without making a lease unproven. The
	 * drift of the clocks, which the allowance of the store also covers, is added.
	 */
	default long unnoticedNanos() {
		return MOST_UNNOTICED_NANOS;
	}

}
