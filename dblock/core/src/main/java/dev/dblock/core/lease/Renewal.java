package dev.dblock.core.lease;

import java.util.HashSet;
import java.util.Set;

import dev.dblock.settings.LeaseTerms;

/**
 * For which parties a lease is renewed, and when the next attempt is due.
 */
public final class Renewal {

	/** The thread that acquired the lock, or its successor. */
	public static final Object OWNER = new Object();

	private final long leaseNanos;

	private final TrustedTime trusted;

	private final HoldTime holdTime;

	private final LockClock clock;

	/**
	 * The parties that the lease is renewed for: its owner, and work that re-enters the
	 * lock.
	 */
	private volatile Set<Object> parties;

	private volatile long nextAttemptNanos;

	public Renewal(LeaseTerms terms, TrustedTime trusted, HoldTime holdTime) {
		this.leaseNanos = terms.lease().toNanos();
		this.trusted = trusted;
		this.holdTime = holdTime;
		this.clock = trusted.clock();
		this.parties = terms.autoRenew() ? Set.of(OWNER) : Set.of();
		this.nextAttemptNanos = trusted.deadline().sentNanos();
	}

	public boolean isOn() {
		return !this.parties.isEmpty() && !this.holdTime.isBeyondMaxHold();
	}

	public boolean isOnForOwner() {
		return this.parties.contains(OWNER) && !this.holdTime.isBeyondMaxHold();
	}

	/**
	 * Renew the lease until renewal is stopped for the same party, or for all.
	 */
	public synchronized void startFor(Object party) {
		Set<Object> all = new HashSet<>(this.parties);
		all.add(party);
		this.parties = Set.copyOf(all);
	}

	public synchronized void stopFor(Object party) {
		Set<Object> all = new HashSet<>(this.parties);
		all.remove(party);
		this.parties = Set.copyOf(all);
	}

	public synchronized void stop() {
		this.parties = Set.of();
	}

	/**
	 * Return when to attempt the next renewal: a third into the lease, and a little later
	 * after a failed attempt.
	 */
	public long dueInNanos() {
		return Math.max(this.trusted.remainingNanos() - this.leaseNanos / 3 * 2, retryDueInNanos());
	}

	public long retryDueInNanos() {
		return this.nextAttemptNanos - this.clock.nanoTime();
	}

	/**
	 * Return whether a renewal that is sent for other leases may include this one, which
	 * is the case from halfway to its own renewal. As a result, leases that were acquired
	 * at different times soon share their renewals.
	 */
	public boolean canJoin() {
		return this.trusted.remainingNanos() <= this.leaseNanos / 6 * 5 && retryDueInNanos() <= 0;
	}

	public void retryIn(long nanos) {
		this.nextAttemptNanos = this.clock.nanoTime() + nanos;
	}

	/**
	 * Continue the renewal of the same lease under its previous owner, so that a failed
	 * attempt is not repeated earlier because of a hand-over.
	 */
	public void goOnFrom(Renewal previous) {
		this.nextAttemptNanos = previous.nextAttemptNanos;
	}

}
