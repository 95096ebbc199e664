package dev.dblock.core.lease;

import java.time.Duration;
import java.time.Instant;

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
public final class Lease {

	// The grant, which does not change

	private final Grant grant;

	private final LeaseTerms terms;

	private final LeaseOwner owner;

	// The state of the lease

	private final LeaseState state = new LeaseState();

	private final TrustedTime trusted;

	private final HoldTime holdTime;

	private final Renewal renewal;

	// What is reported, and to whom

	private final HandleReference handle = new HandleReference();

	private volatile @Nullable String failure;

	private volatile boolean interrupted;

	private volatile boolean earlierReported;

	public Lease(Grant grant, LeaseTerms terms, Thread owner, LeaseDeadline deadline, LockClock clock) {
		this.grant = grant;
		this.terms = terms;
		this.owner = new LeaseOwner(owner);
		this.trusted = new TrustedTime(deadline, clock);
		this.holdTime = new HoldTime(terms, clock);
		this.renewal = new Renewal(terms, this.trusted, this.holdTime);
	}

	public LeaseKey key() {
		return this.grant.key();
	}

	public Grant grant() {
		return this.grant;
	}

	public LeaseTerms terms() {
		return this.terms;
	}

	public long token() {
		return this.grant.token();
	}

	public LeaseOwner owner() {
		return this.owner;
	}

	public LeaseState state() {
		return this.state;
	}

	public TrustedTime trusted() {
		return this.trusted;
	}

	public HoldTime holdTime() {
		return this.holdTime;
	}

	public Renewal renewal() {
		return this.renewal;
	}

	public LeaseDeadline deadline() {
		return this.trusted.deadline();
	}

	public void attach(LeasedLock handle) {
		this.handle.attach(handle);
	}

	public @Nullable LeasedLock handle() {
		return this.handle.get();
	}

	/**
	 * Keep the handle reachable for as long as the lease is registered as held.
	 * @return whether the lease has not ended
	 */
	public boolean keep(LeasedLock handle) {
		this.handle.keep(handle);
		if (end() != null) {
			this.handle.keep(null);
		}
		return this.handle.kept() != null;
	}

	/**
	 * Return the handle to release at shutdown, if there is one.
	 */
	public @Nullable LeasedLock kept() {
		return this.handle.kept();
	}

	/**
	 * Let the application alone decide how long the handle is reachable.
	 */
	public void forgetKept() {
		this.handle.keep(null);
	}

	/**
	 * Return how long the lock was held, in readable form.
	 */
	public String heldFor() {
		return Durations.readable(Duration.ofNanos(this.holdTime.heldNanos()));
	}

	/**
	 * Record that the work for a claim has failed in the current thread. Only the first
	 * failure is recorded. A cause that was interrupted, such as a task of the work, is a
	 * failure; the work itself was interrupted if it throws that, or leaves its thread
	 * interrupted.
	 */
	public synchronized void failed(Throwable cause) {
		Claim claim = this.terms.claim();
		if (claim != null && this.failure == null) {
			this.failure = claim.textOf(cause);
			this.interrupted = cause instanceof InterruptedException || Thread.currentThread().isInterrupted();
		}
	}

	/**
	 * Return the end of the claim that the release records.
	 * @return how it ended; {@code null} for a plain lock
	 */
	public Claim.@Nullable End claimEnd() {
		LossReason reason = end();
		Claim.How how = this.interrupted ? Claim.How.INTERRUPTED : Claim.How.COMPLETED;
		if (reason != null && reason != LossReason.RELEASED) {
			how = Claim.How.LOST;
		}
		if (this.holdTime.isWaived()) {
			how = this.earlierReported ? Claim.How.ABANDONED_AFTER_NEWS : Claim.How.ABANDONED;
		}
		return this.terms.end(key(), how, this.failure);
	}

	/**
	 * Return what is to be reported now about the grant before this one.
	 */
	public Claim.@Nullable News reportEarlier() {
		Claimed claimed = this.grant.claimed();
		Claim.News earlier = (claimed != null) ? claimed.earlier() : null;
		this.earlierReported = earlier != null;
		return earlier;
	}

	/**
	 * Return the end of the claim for the listeners, as ended now.
	 * @return the news; {@code null} if there are none
	 */
	public Claim.@Nullable News endedClaim() {
		Claimed claimed = this.grant.claimed();
		Claim.End end = claimEnd();
		return (claimed != null && end != null) ? claimed.ended(end, Duration.ofNanos(this.holdTime.heldNanos()))
				: null;
	}

	public boolean isOver() {
		return this.trusted.isOver();
	}

	public boolean isUnproven() {
		return this.trusted.isUnproven();
	}

	public long remainingNanos() {
		return this.trusted.remainingNanos();
	}

	public Duration remaining() {
		return Duration.ofNanos(Math.max(0, remainingNanos()));
	}

	public @Nullable LossReason end() {
		return this.state.end();
	}

	/**
	 * Return whether the lease has ended other than by its release or a hand-over.
	 */
	public boolean isLost() {
		LossReason reason = end();
		return reason != null && reason != LossReason.RELEASED;
	}

	public boolean isHeld() {
		return end() == null && !isOver() && !isUnproven();
	}

	public LockLostException lost() {
		LossReason reason = end();
		return new LockLostException(key().name(), token(), (reason != null) ? reason : LossReason.EXPIRED);
	}

	/**
	 * Notify the given hold when this lease ends, immediately if it has already ended.
	 */
	public void observedBy(LockObservations.Hold observed) {
		this.handle.observedBy(observed);
		LossReason reason = end();
		if (reason != null) {
			observed.end(LockObserver.Outcome.LOST, lost());
		}
	}

	public boolean isObserved() {
		return this.handle.isObserved();
	}

	public void observedEnd(LockObserver.Outcome outcome, @Nullable Throwable error) {
		this.handle.observedEnd(outcome, error);
	}

	public boolean isRenewing() {
		return this.renewal.isOn();
	}

	/**
	 * Stop renewing the lease, because its handle is unreachable. The handle of a lease
	 * that has just ended can be unreachable as well.
	 * @return whether this is the first call for a lease that has not ended
	 */
	public boolean abandon() {
		boolean first = this.state.abandon();
		this.renewal.stop();
		return first;
	}

	/**
	 * Return whether a thread of this process may continue under this lease without a
	 * request to the store. This is not possible if the owner has requested an extension,
	 * which its successor has not. Neither is it possible if the store has recorded more
	 * than the lease, which ends with its owner. The owner may still prevent it until
	 * {@link LeaseState#endForSuccessor()} decides.
	 */
	public boolean canBeHandedOver() {
		return !this.terms.isRecorded() && this.state.canEndForSuccessor() && isHeld()
				&& this.holdTime.minHoldLeftNanos() == 0 && this.grant.hasNext()
				&& remainingNanos() >= this.terms.lease().toNanos() / 2;
	}

	/**
	 * Return the mark by which the release informs the next holder about transactions
	 * under this lease.
	 */
	public FenceMark markAtRelease() {
		if (this.state.isUnsettled()) {
			return FenceMark.SET;
		}
		return this.grant.fenceRaised() ? FenceMark.CLEAR : FenceMark.KEEP;
	}

	/**
	 * Return the same lease for the next owner, with its own token.
	 */
	public Lease successor(LeaseTerms terms, Thread owner) {
		Lease next = new Lease(this.grant.next(terms.why()), terms, owner, deadline(), this.trusted.clock());
		next.renewal.goOnFrom(this.renewal);
		return next;
	}

	/**
	 * Describe the lock for other threads of this process.
	 * @param acquirer the name of this process
	 * @return its state, as far as it is known without a request
	 */
	public LockInfo describe(String acquirer) {
		return new LockInfo(key().id(), true, key().holder(), acquirer, this.owner.threadName(), this.grant.why(),
				this.grant.lastToken(), this.grant.acquiredAt(), null, null, null, remaining(), key().permits());
	}

	/**
	 * Describe the lock as it is stored, with its present owner in this process. The
	 * store knows only the thread that it granted the lock to.
	 */
	public LockInfo describe(LockInfo stored) {
		return new LockInfo(stored.name(), stored.held(), stored.holder(), stored.acquirer(), this.owner.threadName(),
				this.grant.why(), stored.token(), stored.acquiredAt(), stored.updatedAt(), stored.expiresAt(),
				stored.releasedAt(), stored.remaining(), stored.permits());
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
	public record Grant(LeaseKey key, long token, long lastToken, Instant acquiredAt, String why, boolean fenceRaised,
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
