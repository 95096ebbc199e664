package dev.dblock.core.lease;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The time until which a lease can be trusted. It is counted from the moment before the
 * request that proved the lease was sent.
 *
 * @param sentNanos the monotonic clock before the request was first sent
 * @param sentWallMillis the wall clock at the same moment, adjusted by every step of it
 * that was observed since
 * @param leaseNanos the length of the lease
 * @param lostNanos the time since then that was observed only on the wall clock
 * @param observedNanos the monotonic clock at the last such observation
 */
public record LeaseDeadline(long sentNanos, long sentWallMillis, long leaseNanos, long lostNanos, long observedNanos) {

	private static final long DRIFT = 1000;

	/** Readings differ by the rounding of a clock. */
	public static final long NOISE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

	public LeaseDeadline(long sentNanos, long sentWallMillis, long leaseNanos) {
		this(sentNanos, sentWallMillis, leaseNanos, 0, sentNanos);
	}

	public static LeaseDeadline from(LockClock clock, Duration lease) {
		long nanos = clock.nanoTime();
		return new LeaseDeadline(nanos, clock.wallMillis(), lease.toNanos());
	}

	public LeaseDeadline withLease(Duration lease) {
		return new LeaseDeadline(this.sentNanos, this.sentWallMillis, lease.toNanos(), this.lostNanos,
				this.observedNanos);
	}

	public boolean passed(LockClock clock) {
		return remainingNanos(clock) <= 0;
	}

	public long remainingNanos(LockClock clock) {
		return this.leaseNanos - elapsedNanos(clock);
	}

	public long elapsedNanos(LockClock clock) {
		return clock.nanoTime() - this.sentNanos;
	}

	/**
	 * Return whether the machine may have been suspended since. The monotonic clock
	 * stands still while a machine is suspended, so the wall clock runs ahead of it. The
	 * wall clock is read before the monotonic clock here, and after it when the proof
	 * began. Therefore a thread that is not scheduled between two readings is not
	 * mistaken for a suspended machine.
	 */
	public boolean suspect(LockClock clock) {
		return this.lostNanos > 0 || isLeap(aheadAtLeast(clock), clock);
	}

	private boolean isLeap(long aheadNanos, LockClock clock) {
		return aheadNanos > clock.unnoticedNanos() + elapsedNanos(clock) / DRIFT;
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
	 * Record how the wall clock has moved relative to the monotonic clock. Setting the
	 * wall clock back must not hide a suspension of the machine, whether it happens
	 * before or after it. Therefore both must be observed as they happen.
	 * @param clock the clocks now
	 * @return the same deadline, if there was nothing to record
	 */
	public LeaseDeadline observe(LockClock clock) {
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
	 * Combine two proofs of the same lease. Answers can be read in a different order than
	 * their requests were sent, and an extension may reach beyond the next renewal. The
	 * proof that was sent last shows that the machine was not suspended since. The proof
	 * that reaches further defines the end. Time between the two that only the wall clock
	 * has measured counts as elapsed. A suspension that was observed after both had been
	 * sent is known only to the first of them, if the wall clock was set back in the
	 * meantime.
	 * @param other the proof that was answered later
	 * @return the combined proof
	 */
	public LeaseDeadline merge(LeaseDeadline other) {
		boolean fresher = this.sentNanos - other.sentNanos > 0;
		return fresher ? withReachOf(other) : other.withReachOf(this);
	}

	/**
	 * Return the same proof of a lease that ends no later than another one.
	 */
	public LeaseDeadline upTo(LeaseDeadline other) {
		long most = other.leaseNanos + other.sentNanos - this.sentNanos;
		return new LeaseDeadline(this.sentNanos, this.sentWallMillis, Math.min(this.leaseNanos, most), this.lostNanos,
				this.observedNanos);
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
