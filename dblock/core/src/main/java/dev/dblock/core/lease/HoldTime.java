package dev.dblock.core.lease;

import java.time.Duration;

import dev.dblock.settings.LeaseTerms;

/**
 * How long a lock has been held, and the shortest and longest time for which it is.
 */
public final class HoldTime {

	private final LockClock clock;

	private final long maxHoldNanos;

	private final long grantedNanos;

	private volatile long minHoldEndNanos;

	private volatile boolean waived;

	public HoldTime(LeaseTerms terms, LockClock clock) {
		this.clock = clock;
		this.maxHoldNanos = terms.maxHold().toNanos();
		this.grantedNanos = clock.nanoTime();
		this.minHoldEndNanos = this.grantedNanos + terms.minHold().toNanos();
	}

	public long heldNanos() {
		return this.clock.nanoTime() - this.grantedNanos;
	}

	public boolean isBeyondMaxHold() {
		return this.maxHoldNanos > 0 && heldNanos() >= this.maxHoldNanos;
	}

	/**
	 * Return the rest of the minimum hold time. It is counted from the time at which the
	 * answer was read, so that it does not end earlier than by the store's clock.
	 */
	public long minHoldLeftNanos() {
		return this.waived ? 0 : Math.max(0, this.minHoldEndNanos - this.clock.nanoTime());
	}

	/**
	 * Set the minimum hold time anew, counted from now.
	 */
	public synchronized void minHoldFor(Duration minHold) {
		this.minHoldEndNanos = this.clock.nanoTime() + minHold.toNanos();
	}

	/**
	 * Lengthen the minimum hold time to the given one, counted from now, if it would end
	 * earlier.
	 */
	public synchronized void minHoldAtLeast(Duration minHold) {
		if (minHold.toNanos() > minHoldLeftNanos()) {
			minHoldFor(minHold);
		}
	}

	/**
	 * Waive the minimum hold time, because no work was done under the lease.
	 */
	public void waiveMinHold() {
		this.waived = true;
	}

	/**
	 * Return whether no work was done under the lease.
	 */
	public boolean isWaived() {
		return this.waived;
	}

}
