package dev.dblock.core;

import java.lang.ref.WeakReference;
import java.util.concurrent.atomic.AtomicReference;

import dev.dblock.LockLostException;
import dev.dblock.LossReason;
import org.jspecify.annotations.Nullable;

/**
 * One grant as this process sees it: until when it may be believed in, and whether it
 * came to an end. Shared by the handle, which belongs to the application, and the
 * watchdog, which must not keep a forgotten handle alive; so the handle is referred to
 * weakly from here.
 */
final class Lease {

	private final LeaseKey key;

	private final LeaseTerms terms;

	private final long token;

	private final LockClock clock;

	private final LeaseOwner owner;

	private final long grantedNanos;

	private volatile LeaseDeadline deadline;

	private final AtomicReference<@Nullable LossReason> end = new AtomicReference<>();

	private volatile WeakReference<LeaseHandle> handle = new WeakReference<>(null);

	private volatile boolean renewing;

	private volatile long nextAttemptNanos;

	Lease(LeaseKey key, LeaseTerms terms, long token, LeaseDeadline deadline, LockClock clock) {
		this.key = key;
		this.terms = terms;
		this.token = token;
		this.clock = clock;
		this.owner = new LeaseOwner(Thread.currentThread());
		this.grantedNanos = clock.nanoTime();
		this.deadline = deadline;
		this.renewing = terms.autoRenew();
		this.nextAttemptNanos = deadline.sentNanos();
	}

	LeaseKey key() {
		return this.key;
	}

	LeaseTerms terms() {
		return this.terms;
	}

	long token() {
		return this.token;
	}

	LeaseOwner owner() {
		return this.owner;
	}

	LeaseDeadline deadline() {
		return this.deadline;
	}

	void attach(LeaseHandle handle) {
		this.handle = new WeakReference<>(handle);
	}

	@Nullable LeaseHandle handle() {
		return this.handle.get();
	}

	long heldNanos() {
		return this.clock.nanoTime() - this.grantedNanos;
	}

	/**
	 * What is left of the minimum hold. Counted from when the answer was read, so that it
	 * does not end sooner than by the store's clock.
	 */
	long minHoldLeftNanos() {
		return Math.max(0, this.terms.minHold().toNanos() - heldNanos());
	}

	boolean isOver() {
		return this.deadline.passed(this.clock);
	}

	boolean isUnproven() {
		return this.deadline.suspect(this.clock);
	}

	long remainingNanos() {
		return this.deadline.remainingNanos(this.clock);
	}

	/**
	 * The store has confirmed the lease.
	 */
	synchronized void prove(LeaseDeadline proof) {
		this.deadline = merge(this.deadline, proof);
	}

	/**
	 * The proof that was sent last says that the machine was not suspended since; the one
	 * that reaches further says until when.
	 */
	private static LeaseDeadline merge(LeaseDeadline known, LeaseDeadline proof) {
		LeaseDeadline further = known.later(proof);
		boolean fresher = proof.sentNanos() - further.sentNanos() > 0;
		if (!fresher) {
			return further;
		}
		long left = further.leaseNanos() - (proof.sentNanos() - further.sentNanos());
		return new LeaseDeadline(proof.sentNanos(), proof.sentWallMillis(), left);
	}

	@Nullable LossReason end() {
		return this.end.get();
	}

	boolean isHeld() {
		return this.end.get() == null && !isOver() && !isUnproven();
	}

	/**
	 * End the lease, once.
	 * @return whether it was this call that ended it
	 */
	boolean endWith(LossReason reason) {
		return this.end.compareAndSet(null, reason);
	}

	LockLostException lost() {
		LossReason reason = this.end.get();
		return new LockLostException(this.key.name(), this.token, (reason != null) ? reason : LossReason.EXPIRED);
	}

	boolean isRenewing() {
		return this.renewing && !isBeyondMaxHold();
	}

	void renewing(boolean renewing) {
		this.renewing = renewing;
	}

	boolean isBeyondMaxHold() {
		long maxHold = this.terms.maxHold().toNanos();
		return maxHold > 0 && heldNanos() >= maxHold;
	}

	/**
	 * When to try to renew next: a third into the lease, and after a failed attempt a
	 * little later.
	 */
	long renewalDueInNanos() {
		long byLease = remainingNanos() - this.terms.lease().toNanos() / 3 * 2;
		return Math.max(byLease, retryDueInNanos());
	}

	long retryDueInNanos() {
		return this.nextAttemptNanos - this.clock.nanoTime();
	}

	/**
	 * Whether a renewal that is sent for others may as well take this lease along: half
	 * of the way to its own. So leases that were acquired at any time soon share their
	 * renewals.
	 */
	boolean canJoinRenewal() {
		long leaseNanos = this.terms.lease().toNanos();
		return remainingNanos() <= leaseNanos / 6 * 5 && retryDueInNanos() <= 0;
	}

	void retryIn(long nanos) {
		this.nextAttemptNanos = this.clock.nanoTime() + nanos;
	}

}
