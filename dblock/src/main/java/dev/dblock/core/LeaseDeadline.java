package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Until when a lease may be believed in: arithmetic, counted from before the request that
 * proved it was sent.
 *
 * @param sentNanos the monotonic clock before the request was first sent
 * @param sentWallMillis the wall clock at the same moment, moved along with every step of
 * it that was observed since
 * @param leaseNanos the length of the lease
 * @param lostNanos how much time only the wall clock was observed to have seen since
 * @param observedNanos the monotonic clock when that was observed last
 */
record LeaseDeadline(long sentNanos, long sentWallMillis, long leaseNanos, long lostNanos, long observedNanos) {

	/**
	 * The monotonic clock stands still while a machine is suspended, and so the wall
	 * clock runs ahead of it. Half of the smallest clock allowance that is sensible, plus
	 * the drift that the allowance covers too.
	 */
	private static final long SUSPICION_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

	private static final long DRIFT = 1000;

	/** Readings differ by what a clock rounds. */
	private static final long NOISE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	LeaseDeadline(long sentNanos, long sentWallMillis, long leaseNanos) {
		this(sentNanos, sentWallMillis, leaseNanos, 0, sentNanos);
	}

	static LeaseDeadline from(LockClock clock, Duration lease) {
		long nanos = clock.nanoTime();
		return new LeaseDeadline(nanos, clock.wallMillis(), lease.toNanos());
	}

	LeaseDeadline withLease(Duration lease) {
		return new LeaseDeadline(this.sentNanos, this.sentWallMillis, lease.toNanos(), this.lostNanos,
				this.observedNanos);
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
		return this.lostNanos > 0 || isLeap(aheadAtLeast(clock), clock);
	}

	private boolean isLeap(long aheadNanos, LockClock clock) {
		return aheadNanos > SUSPICION_NANOS + elapsedNanos(clock) / DRIFT;
	}

	private long aheadAtLeast(LockClock clock) {
		long wall = wallNanos(clock);
		return wall - elapsedNanos(clock);
	}

	private long aheadAtMost(LockClock clock) {
		long elapsed = elapsedNanos(clock);
		return wallNanos(clock) - elapsed;
	}

	private long wallNanos(LockClock clock) {
		return TimeUnit.MILLISECONDS.toNanos(clock.wallMillis() - this.sentWallMillis);
	}

	/**
	 * Note what the wall clock has done against the monotonic one. Whoever sets it back
	 * must not hide that the machine was suspended, be it before or afterwards; so both
	 * have to be seen as they happen.
	 * @param clock the clocks now
	 * @return the same deadline, if there was nothing to note
	 */
	LeaseDeadline observe(LockClock clock) {
		long ahead = aheadAtLeast(clock);
		if (isLeap(ahead, clock)) {
			return stepped(ahead, this.lostNanos + ahead, clock.nanoTime());
		}
		long behind = aheadAtMost(clock);
		return (behind < -NOISE_NANOS) ? stepped(behind, this.lostNanos, this.observedNanos) : this;
	}

	private LeaseDeadline stepped(long byNanos, long lostNanos, long observedNanos) {
		long wall = this.sentWallMillis + TimeUnit.NANOSECONDS.toMillis(byNanos);
		return new LeaseDeadline(this.sentNanos, wall, this.leaseNanos, lostNanos, observedNanos);
	}

	/**
	 * What two proofs of the same lease say together. Answers can be read in another
	 * order than their requests were sent, and an extension may reach beyond the next
	 * renewal: the proof that was sent last says that the machine was not suspended
	 * since, the one that reaches further says until when. Time that only the wall clock
	 * has seen between the two has passed all the same; and a suspension that was
	 * observed after both had been sent is known to the first of them alone, if the wall
	 * clock was set back meanwhile.
	 * @param other the proof that was answered later
	 * @return the proof of both
	 */
	LeaseDeadline merge(LeaseDeadline other) {
		boolean fresher = this.sentNanos - other.sentNanos > 0;
		return fresher ? withReachOf(other) : other.withReachOf(this);
	}

	private LeaseDeadline withReachOf(LeaseDeadline older) {
		long elapsed = this.sentNanos - older.sentNanos;
		long wall = TimeUnit.MILLISECONDS.toNanos(this.sentWallMillis - older.sentWallMillis);
		boolean missed = older.lostNanos > 0 && older.observedNanos - this.sentNanos > 0;
		long between = Math.max(elapsed, wall) + (missed ? 0 : older.lostNanos);
		long left = Math.max(this.leaseNanos, older.leaseNanos - between);
		return missed
				? new LeaseDeadline(this.sentNanos, this.sentWallMillis, left,
						Math.max(this.lostNanos, older.lostNanos), older.observedNanos)
				: new LeaseDeadline(this.sentNanos, this.sentWallMillis, left, this.lostNanos, this.observedNanos);
	}

}
