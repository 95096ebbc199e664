package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Until when a lease may be believed in: arithmetic, counted from before the request that
 * proved it was sent.
 *
 * @param sentNanos the monotonic clock before the request was first sent
 * @param sentWallMillis the wall clock at the same moment
 * @param leaseNanos the length of the lease
 */
record LeaseDeadline(long sentNanos, long sentWallMillis, long leaseNanos) {

	/**
	 * The monotonic clock stands still while a machine is suspended, and so the wall
	 * clock runs ahead of it. Half of the smallest clock allowance that is sensible, plus
	 * the drift that the allowance covers too.
	 */
	private static final long SUSPICION_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

	private static final long DRIFT = 1000;

	static LeaseDeadline from(LockClock clock, Duration lease) {
		long nanos = clock.nanoTime();
		return new LeaseDeadline(nanos, clock.wallMillis(), lease.toNanos());
	}

	LeaseDeadline withLease(Duration lease) {
		return new LeaseDeadline(this.sentNanos, this.sentWallMillis, lease.toNanos());
	}

	boolean passed(LockClock clock) {
		return remainingNanos(clock) <= 0;
	}

	long remainingNanos(LockClock clock) {
		return this.leaseNanos - elapsedNanos(clock);
	}

	long elapsedNanos(LockClock clock) {
		return clock.nanoTime() - this.sentNanos;
	}

	/**
	 * Whether the machine may have been suspended since. The wall clock is read before
	 * the other here, and after it when the proof began: a thread that is not scheduled
	 * between two readings is no machine that was suspended.
	 */
	boolean suspect(LockClock clock) {
		long wall = TimeUnit.MILLISECONDS.toNanos(clock.wallMillis() - this.sentWallMillis);
		long elapsed = elapsedNanos(clock);
		return wall - elapsed > SUSPICION_NANOS + elapsed / DRIFT;
	}

	/**
	 * What two proofs of the same lease say together. Answers can be read in another
	 * order than their requests were sent, and an extension may reach beyond the next
	 * renewal: the proof that was sent last says that the machine was not suspended
	 * since, the one that reaches further says until when. Time that only the wall clock
	 * has seen between the two has passed all the same.
	 * @param other the proof that was answered later
	 * @return the proof of both
	 */
	LeaseDeadline merge(LeaseDeadline other) {
		boolean fresher = this.sentNanos - other.sentNanos > 0;
		return fresher ? withReachOf(other) : other.withReachOf(this);
	}

	private LeaseDeadline withReachOf(LeaseDeadline older) {
		long wall = TimeUnit.MILLISECONDS.toNanos(this.sentWallMillis - older.sentWallMillis);
		long between = Math.max(this.sentNanos - older.sentNanos, wall);
		long left = Math.max(this.leaseNanos, older.leaseNanos - between);
		return new LeaseDeadline(this.sentNanos, this.sentWallMillis, left);
	}

}
