package dev.dblock.core;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;

import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LossReason;
import dev.dblock.claim.Claim;
import dev.dblock.claim.Claimed;
import dev.dblock.observation.LockObservations;
import dev.dblock.observation.LockObserver;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.support.Durations;
import dev.dblock.transaction.LeaseState;
import org.jspecify.annotations.Nullable;

/**
 * A grant as this process sees it: how long it can be trusted, and whether it has ended.
 * It is shared by the handle, which belongs to the application, and the watchdog, which
 * must not keep an abandoned handle alive. Therefore the lease refers to the handle
 * weakly.
 */
final class Lease {

	static final Object OWNER = new Object();

	private final Grant grant;

	private final LeaseTerms terms;

	private final LockClock clock;

	private final LeaseOwner owner;

	private final long grantedNanos;

	private volatile LeaseDeadline deadline;

	private volatile @Nullable LeaseDeadline extensionAsked;

	private final LeaseState state = new LeaseState();

	private volatile WeakReference<LeasedLock> handle = new WeakReference<>(null);

	/** The handle of a lock that is kept until shutdown. */
	private volatile @Nullable LeasedLock kept;

	/**
	 * The parties that the lease is renewed for: its owner, and work that re-enters the
	 * lock.
	 */
	private volatile Set<Object> renewers;

	private volatile boolean aboutToEnd;

	private volatile long minHoldEndNanos;

	private volatile boolean minHoldWaived;

	/** The changes to an exact end of the lease that are in progress. */
	private int exactChanges;

	private boolean exactChangesOverlap;

	private @Nullable Long provenFromNanos;

	private volatile boolean abandoned;

	private volatile long nextAttemptNanos;

	private volatile @Nullable Throwable failure;

	private volatile boolean earlierReported;

	private volatile LockObservations.@Nullable Hold observed;

	Lease(Grant grant, LeaseTerms terms, Thread owner, LeaseDeadline deadline, LockClock clock) {
		this.grant = grant;
		this.terms = terms;
		this.clock = clock;
		this.owner = new LeaseOwner(owner);
		this.grantedNanos = clock.nanoTime();
		this.minHoldEndNanos = this.grantedNanos + terms.minHold().toNanos();
		this.deadline = deadline;
		this.renewers = terms.autoRenew() ? Set.of(OWNER) : Set.of();
		this.nextAttemptNanos = deadline.sentNanos();
	}

	LeaseKey key() {
		return this.grant.key();
	}

	Grant grant() {
		return this.grant;
	}

	LeaseTerms terms() {
		return this.terms;
	}

	long token() {
		return this.grant.token();
	}

	LeaseOwner owner() {
		return this.owner;
	}

	LeaseDeadline deadline() {
		return this.deadline;
	}

	void attach(LeasedLock handle) {
		this.handle = new WeakReference<>(handle);
	}

	@Nullable LeasedLock handle() {
		return this.handle.get();
	}

	/**
	 * Keep the handle reachable for as long as the lease is registered as held.
	 * @return whether the lease has not ended
	 */
	boolean keep(LeasedLock handle) {
		this.kept = handle;
		if (end() != null) {
			this.kept = null;
		}
		return this.kept != null;
	}

	/**
	 * Return the handle to release at shutdown, if there is one.
	 */
	@Nullable LeasedLock kept() {
		return this.kept;
	}

	/**
	 * Let the application alone decide how long the handle is reachable.
	 */
	void forgetKept() {
		this.kept = null;
	}

	/**
	 * Mark the work under this lease as completed and its release as imminent.
	 */
	void aboutToEnd() {
		this.aboutToEnd = true;
	}

	boolean isAboutToEnd() {
		return this.aboutToEnd && end() == null;
	}

	/**
	 * Return how long the lock was held, in readable form.
	 */
	String heldFor() {
		return Durations.readable(Duration.ofNanos(heldNanos()));
	}

	long heldNanos() {
		return this.clock.nanoTime() - this.grantedNanos;
	}

	/**
	 * Return the rest of the minimum hold time. It is counted from the time at which the
	 * answer was read, so that it does not end earlier than by the store's clock.
	 */
	long minHoldLeftNanos() {
		return this.minHoldWaived ? 0 : Math.max(0, this.minHoldEndNanos - this.clock.nanoTime());
	}

	/**
	 * Set the minimum hold time anew, counted from now.
	 */
	synchronized void minHoldFor(Duration minHold) {
		this.minHoldEndNanos = this.clock.nanoTime() + minHold.toNanos();
	}

	/**
	 * Lengthen the minimum hold time to the given one, counted from now, if it would end
	 * earlier.
	 */
	synchronized void minHoldAtLeast(Duration minHold) {
		if (minHold.toNanos() > minHoldLeftNanos()) {
			minHoldFor(minHold);
		}
	}

	/**
	 * Waive the minimum hold time, because no work was done under the lease.
	 */
	void waiveMinHold() {
		this.minHoldWaived = true;
	}

	/**
	 * Record that the work for a claim has failed. Only the first failure is recorded.
	 */
	synchronized void failed(Throwable cause) {
		if (this.terms.claim() != null && this.failure == null) {
			this.failure = cause;
		}
	}

	/**
	 * Return the end of the claim that the release records.
	 * @return how it ended; {@code null} for a plain lock
	 */
	Claim.@Nullable End claimEnd() {
		LossReason reason = end();
		Claim.How how = (reason != null && reason != LossReason.RELEASED) ? Claim.How.LOST : Claim.How.COMPLETED;
		if (this.minHoldWaived) {
			how = this.earlierReported ? Claim.How.ABANDONED_AFTER_NEWS : Claim.How.ABANDONED;
		}
		return this.terms.end(key(), how, this.failure);
	}

	/**
	 * Return what is to be reported now about the grant before this one.
	 */
	Claim.@Nullable News reportEarlier() {
		Claimed claimed = this.grant.claimed();
		Claim.News earlier = (claimed != null) ? claimed.earlier() : null;
		this.earlierReported = earlier != null;
		return earlier;
	}

	/**
	 * Return the end of the claim for the listeners, as ended now.
	 * @return the news; {@code null} if there are none
	 */
	Claim.@Nullable News endedClaim() {
		Claimed claimed = this.grant.claimed();
		Claim.End end = claimEnd();
		return (claimed != null && end != null) ? claimed.ended(end, Duration.ofNanos(heldNanos())) : null;
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

	Duration remaining() {
		return Duration.ofNanos(Math.max(0, remainingNanos()));
	}

	/**
	 * Record that the store has confirmed the lease. A request that was sent before an
	 * exact change was answered proves nothing: the store may have applied it before the
	 * change, which it then preceded and did not prolong.
	 */
	synchronized void prove(LeaseDeadline proof) {
		Long from = this.provenFromNanos;
		if (this.exactChanges == 0 && (from == null || proof.sentNanos() - from > 0)) {
			this.deadline = this.deadline.merge(proof);
		}
	}

	/**
	 * Trust the lease no longer than until an exact end, since a request to set it is
	 * about to be sent and can be applied at any time from now on.
	 */
	synchronized void beginExactChange(LeaseDeadline exact) {
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
	synchronized void endExactChange(LeaseDeadline exact, boolean confirmed) {
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
	synchronized void maybeExtended(LeaseDeadline inDoubt) {
		LeaseDeadline before = this.extensionAsked;
		if (before == null || before.remainingNanos(this.clock) < inDoubt.remainingNanos(this.clock)) {
			this.extensionAsked = inDoubt;
		}
	}

	/**
	 * Return whether the store may keep the lock held for longer than this process can
	 * trust the lease.
	 */
	boolean isPerhapsExtended() {
		LeaseDeadline inDoubt = this.extensionAsked;
		long left = Math.max(0, remainingNanos());
		// Read last, so that a confirmed extension has no more time left than the lease
		return inDoubt != null && inDoubt.remainingNanos(this.clock) > left;
	}

	/**
	 * Return the longest time for which the store keeps the lock held if it is not
	 * released.
	 */
	Duration leftAtStore() {
		LeaseDeadline inDoubt = this.extensionAsked;
		long perhaps = (inDoubt != null) ? inDoubt.remainingNanos(this.clock) : 0;
		return Duration.ofNanos(Math.max(0, Math.max(perhaps, remainingNanos())));
	}

	LeaseState state() {
		return this.state;
	}

	/**
	 * Observe the clocks. Call this often enough to see every step of the wall clock.
	 */
	synchronized void observeClocks() {
		this.deadline = this.deadline.observe(this.clock);
	}

	@Nullable LossReason end() {
		return this.state.end();
	}

	boolean isHeld() {
		return end() == null && !isOver() && !isUnproven();
	}

	LockLostException lost() {
		LossReason reason = end();
		return new LockLostException(key().name(), token(), (reason != null) ? reason : LossReason.EXPIRED);
	}

	/**
	 * Notify the given hold when this lease ends, immediately if it has already ended.
	 */
	void observedBy(LockObservations.Hold observed) {
		this.observed = observed;
		LossReason reason = end();
		if (reason != null) {
			observed.end(LockObserver.Outcome.LOST, lost());
		}
	}

	boolean isObserved() {
		return this.observed != null;
	}

	void observedEnd(LockObserver.Outcome outcome, @Nullable Throwable error) {
		LockObservations.Hold observed = this.observed;
		if (observed != null) {
			observed.end(outcome, error);
		}
	}

	boolean isRenewing() {
		return !this.renewers.isEmpty() && !isBeyondMaxHold();
	}

	boolean isRenewingForOwner() {
		return this.renewers.contains(OWNER) && !isBeyondMaxHold();
	}

	/**
	 * Renew the lease until renewal is stopped for the same renewer, or for all.
	 */
	synchronized void renewFor(Object renewer) {
		Set<Object> all = new HashSet<>(this.renewers);
		all.add(renewer);
		this.renewers = Set.copyOf(all);
	}

	synchronized void stopRenewalFor(Object renewer) {
		Set<Object> all = new HashSet<>(this.renewers);
		all.remove(renewer);
		this.renewers = Set.copyOf(all);
	}

	synchronized void stopRenewal() {
		this.renewers = Set.of();
	}

	/**
	 * Stop renewing the lease, because its handle is unreachable. The handle of a lease
	 * that has just ended can be unreachable as well.
	 * @return whether this is the first call for a lease that has not ended
	 */
	boolean abandon() {
		boolean first = !this.abandoned && end() == null;
		this.abandoned = true;
		stopRenewal();
		return first;
	}

	boolean isAbandoned() {
		return this.abandoned;
	}

	boolean isBeyondMaxHold() {
		long maxHold = this.terms.maxHold().toNanos();
		return maxHold > 0 && heldNanos() >= maxHold;
	}

	/**
	 * Return when to attempt the next renewal: a third into the lease, and a little later
	 * after a failed attempt.
	 */
	long renewalDueInNanos() {
		long byLease = remainingNanos() - this.terms.lease().toNanos() / 3 * 2;
		return Math.max(byLease, retryDueInNanos());
	}

	long retryDueInNanos() {
		return this.nextAttemptNanos - this.clock.nanoTime();
	}

	/**
	 * Return whether a renewal that is sent for other leases may include this one, which
	 * is the case from halfway to its own renewal. As a result, leases that were acquired
	 * at different times soon share their renewals.
	 */
	boolean canJoinRenewal() {
		long leaseNanos = this.terms.lease().toNanos();
		return remainingNanos() <= leaseNanos / 6 * 5 && retryDueInNanos() <= 0;
	}

	void retryIn(long nanos) {
		this.nextAttemptNanos = this.clock.nanoTime() + nanos;
	}

	/**
	 * Return whether a thread of this process may continue under this lease without a
	 * request to the store. This is not possible if the owner has requested an extension,
	 * which its successor has not. Neither is it possible if the lease is for a claim,
	 * which ends with its owner. The owner may still prevent it until
	 * {@link LeaseState#endForSuccessor()} decides.
	 */
	boolean canBeHandedOver() {
		return this.terms.claim() == null && this.state.canEndForSuccessor() && isHeld() && minHoldLeftNanos() == 0
				&& this.grant.hasNext() && remainingNanos() >= this.terms.lease().toNanos() / 2;
	}

	/**
	 * Return the mark by which the release informs the next holder about transactions
	 * under this lease.
	 */
	FenceMark markAtRelease() {
		if (this.state.isUnsettled()) {
			return FenceMark.SET;
		}
		return this.grant.fenceRaised() ? FenceMark.CLEAR : FenceMark.KEEP;
	}

	/**
	 * Return the same lease for the next owner, with its own token.
	 */
	Lease successor(LeaseTerms terms, Thread owner) {
		Lease next = new Lease(this.grant.next(terms.why()), terms, owner, this.deadline, this.clock);
		next.nextAttemptNanos = this.nextAttemptNanos;
		return next;
	}

	/**
	 * Describe the lock for other threads of this process.
	 * @param acquirer the name of this process
	 * @return its state, as far as it is known without a request
	 */
	LockInfo describe(String acquirer) {
		return new LockInfo(key().name(), true, key().holder(), acquirer, this.owner.threadName(), this.grant.why(),
				this.grant.lastToken(), this.grant.acquiredAt(), null, null, null, remaining());
	}

	/**
	 * Describe the lock as it is stored, with its present owner in this process. The
	 * store knows only the thread that it granted the lock to.
	 */
	LockInfo describe(LockInfo stored) {
		return new LockInfo(stored.name(), stored.held(), stored.holder(), stored.acquirer(), this.owner.threadName(),
				this.grant.why(), stored.token(), stored.acquiredAt(), stored.updatedAt(), stored.expiresAt(),
				stored.releasedAt(), stored.remaining());
	}

	/**
	 * A lock as the store granted it.
	 *
	 * @param key the acquisition
	 * @param token the fencing token of its present owner
	 * @param lastToken the last token of the reserved block
	 * @param acquiredAt when the store granted it, by its own clock
	 * @param why the reason for the acquisition
	 * @param fenceRaised whether the fence was raised against an earlier holder
	 * @param claimed what was recorded for its claim
	 */
	record Grant(LeaseKey key, long token, long lastToken, Instant acquiredAt, String why, boolean fenceRaised,
			@Nullable Claimed claimed) {

		boolean hasNext() {
			return this.token < this.lastToken;
		}

		Grant next(@Nullable String why) {
			return new Grant(this.key, this.token + 1, this.lastToken, this.acquiredAt,
					(why != null) ? LeaseOwner.onOneLine(why) : "handed over inside the process", this.fenceRaised,
					null);
		}

	}

}
