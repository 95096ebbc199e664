package dev.dblock.core.lease;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * How long this process may trust a lease, and how long the store may keep the lock held.
 * The first ends no later than the second.
 */
public final class TrustedTime {

	private final LockClock clock;

	// What is proven, and what may be

	private volatile LeaseDeadline deadline;

	private volatile @Nullable LeaseDeadline extensionAsked;

	// The changes to an exact end that are in progress

	private int exactChanges;

	private boolean exactChangesOverlap;

	private @Nullable Long provenFromNanos;

	public TrustedTime(LeaseDeadline deadline, LockClock clock) {
		this.deadline = deadline;
		this.clock = clock;
	}

	public LockClock clock() {
		return this.clock;
	}

	public LeaseDeadline deadline() {
		return this.deadline;
	}

	public boolean isOver() {
		return this.deadline.passed(this.clock);
	}

	public boolean isUnproven() {
		return this.deadline.suspect(this.clock);
	}

	public long remainingNanos() {
		return this.deadline.remainingNanos(this.clock);
	}

	/**
	 * Record that the store has confirmed the lease. A request that was sent before an
	 * exact change was answered proves nothing: the store may have applied it before the
	 * change, which it then preceded and did not prolong.
	 */
	public synchronized void prove(LeaseDeadline proof) {
		Long from = this.provenFromNanos;
		if (this.exactChanges == 0 && (from == null || proof.sentNanos() - from > 0)) {
			this.deadline = this.deadline.merge(proof);
		}
	}

	/**
	 * Trust the lease no longer than until an exact end, since a request to set it is
	 * about to be sent and can be applied at any time from now on.
	 */
	public synchronized void beginExactChange(LeaseDeadline exact) {
		maybeExtended(this.deadline);
		maybeExtended(exact);
		this.deadline = this.deadline.upTo(exact);
		this.exactChangesOverlap = this.exactChanges > 0;
		this.exactChanges++;
	}

	/**
	 * End such a request. If several were in progress at the same time, it is unknown
	 * which of them was applied last, so the lease counts until the earliest end.
	 * @param exact the end that was to be set
	 * @param confirmed whether the store has set it
	 */
	public synchronized void endExactChange(LeaseDeadline exact, boolean confirmed) {
		this.exactChanges--;
		this.provenFromNanos = this.clock.nanoTime();
		if (confirmed && !this.exactChangesOverlap) {
			this.deadline = this.deadline.merge(exact);
			this.extensionAsked = exact;
		}
	}

	/**
	 * Record an extension that was requested, or whose request was not answered. This
	 * process does not rely on it, but the store may have applied it and may keep the
	 * lock held until its end.
	 * @param inDoubt the deadline if the store had applied the extension just now
	 */
	public synchronized void maybeExtended(LeaseDeadline inDoubt) {
		LeaseDeadline before = this.extensionAsked;
		if (before == null || before.remainingNanos(this.clock) < inDoubt.remainingNanos(this.clock)) {
			this.extensionAsked = inDoubt;
		}
	}

	/**
	 * Return whether the store may keep the lock held for longer than this process can
	 * trust the lease.
	 */
	public boolean isPerhapsExtended() {
		LeaseDeadline inDoubt = this.extensionAsked;
		long left = Math.max(0, remainingNanos());
		// Read last, so that a confirmed extension has no more time left than the lease
		return inDoubt != null && inDoubt.remainingNanos(this.clock) > left;
	}

	/**
	 * Return the longest time for which the store keeps the lock held if it is not
	 * released.
	 */
	public Duration leftAtStore() {
		LeaseDeadline inDoubt = this.extensionAsked;
		long perhaps = (inDoubt != null) ? inDoubt.remainingNanos(this.clock) : 0;
		return Duration.ofNanos(Math.max(0, Math.max(perhaps, remainingNanos())));
	}

	/**
	 * Observe the clocks. Call this often enough to see every step of the wall clock.
	 */
	public synchronized void observeClocks() {
		this.deadline = this.deadline.observe(this.clock);
	}

}
