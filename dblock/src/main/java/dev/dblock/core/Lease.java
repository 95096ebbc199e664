package dev.dblock.core;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;

import dev.dblock.Durations;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LossReason;
import dev.dblock.job.JobRun;
import dev.dblock.job.RunOutcome;
import dev.dblock.observation.LockOutcome;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.FenceMark;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.RunEnd;
import org.jspecify.annotations.Nullable;

/**
 * One grant as this process sees it: until when it may be believed in, and whether it
 * came to an end. Shared by the handle, which belongs to the application, and the
 * watchdog, which must not keep a forgotten handle alive; so the handle is referred to
 * weakly from here.
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

	private volatile WeakReference<LeaseHandle> handle = new WeakReference<>(null);

	private @Nullable SessionSlots sessionSlots;

	/**
	 * On whose behalf the lease is renewed: its owner, and work that re-enters the lock.
	 */
	private volatile Set<Object> renewers;

	private volatile boolean aboutToEnd;

	private volatile boolean minHoldWaived;

	private volatile boolean abandoned;

	private volatile long nextAttemptNanos;

	private volatile @Nullable String runError;

	private volatile @Nullable ObservedHold observed;

	Lease(Grant grant, LeaseTerms terms, Thread owner, LeaseDeadline deadline, LockClock clock) {
		this.grant = grant;
		this.terms = terms;
		this.clock = clock;
		this.owner = new LeaseOwner(owner);
		this.grantedNanos = clock.nanoTime();
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

	void attach(LeaseHandle handle) {
		this.handle = new WeakReference<>(handle);
	}

	@Nullable LeaseHandle handle() {
		return this.handle.get();
	}

	/**
	 * The work under it is over, and somebody is about to give it back.
	 */
	void aboutToEnd() {
		this.aboutToEnd = true;
	}

	boolean isAboutToEnd() {
		return this.aboutToEnd && end() == null;
	}

	/**
	 * For how long it was held, for people to read.
	 */
	String heldFor() {
		return Durations.readable(Duration.ofNanos(heldNanos()));
	}

	long heldNanos() {
		return this.clock.nanoTime() - this.grantedNanos;
	}

	/**
	 * What is left of the minimum hold. Counted from when the answer was read, so that it
	 * does not end sooner than by the store's clock.
	 */
	long minHoldLeftNanos() {
		return this.minHoldWaived ? 0 : Math.max(0, this.terms.minHold().toNanos() - heldNanos());
	}

	/**
	 * Nothing was done under the lease, so that its name need not stay taken.
	 */
	void waiveMinHold() {
		this.minHoldWaived = true;
	}

	/**
	 * The work of a run has failed. Only the first failure is recorded.
	 */
	synchronized void runFailed(Throwable cause) {
		if (this.terms.firing() != null && this.runError == null) {
			this.runError = RunEnd.textOf(cause);
		}
	}

	/**
	 * What the release records of the run.
	 * @return how it ended; {@code null} of a plain lock
	 */
	@Nullable RunEnd runEnd() {
		String error = this.runError;
		LossReason reason = end();
		RunOutcome outcome = (error != null) ? RunOutcome.FAILED : RunOutcome.SUCCEEDED;
		if (this.minHoldWaived) {
			outcome = RunOutcome.ABANDONED;
		}
		else if (reason != null && reason != LossReason.RELEASED) {
			outcome = RunOutcome.LOST;
		}
		return this.terms.endOfRun(key(), outcome, error);
	}

	/**
	 * The run that the lease was granted for, as it has ended now. The server's clock at
	 * the grant is continued by that of this process.
	 * @return the run; {@code null} of a plain lock
	 */
	@Nullable JobRun endedRun() {
		JobRun run = this.grant.run();
		RunEnd end = runEnd();
		return (run != null && end != null)
				? new JobRun(run.jobId(), run.plannedAt(), run.attempt(), run.startedAt(),
						run.startedAt().plusNanos(heldNanos()), end.outcome(), run.instance(), run.token(), end.error())
				: null;
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
	 * The store has confirmed the lease.
	 */
	synchronized void prove(LeaseDeadline proof) {
		this.deadline = this.deadline.merge(proof);
	}

	/**
	 * The owner asks for more than a lease, or got no answer to that. It is not believed
	 * in, but the store may have done it, and keep the name taken until then.
	 * @param inDoubt its end, had it been done just now
	 */
	synchronized void maybeExtended(LeaseDeadline inDoubt) {
		LeaseDeadline before = this.extensionAsked;
		if (before == null || before.remainingNanos(this.clock) < inDoubt.remainingNanos(this.clock)) {
			this.extensionAsked = inDoubt;
		}
	}

	/**
	 * Whether the store may keep the name taken for longer than the lease may be believed
	 * in.
	 */
	boolean isPerhapsExtended() {
		LeaseDeadline inDoubt = this.extensionAsked;
		long left = Math.max(0, remainingNanos());
		// Read last: of an extension that was confirmed no more is left then
		return inDoubt != null && inDoubt.remainingNanos(this.clock) > left;
	}

	/**
	 * For how long the store keeps the name taken at most if nobody gives it back.
	 */
	Duration leftAtStore() {
		LeaseDeadline inDoubt = this.extensionAsked;
		long perhaps = (inDoubt != null) ? inDoubt.remainingNanos(this.clock) : 0;
		return Duration.ofNanos(Math.max(0, Math.max(perhaps, remainingNanos())));
	}

	/**
	 * The slots of sessions that the application manages itself.
	 */
	synchronized SessionSlots sessionSlots() {
		if (this.sessionSlots == null) {
			this.sessionSlots = new SessionSlots(this.state);
		}
		return this.sessionSlots;
	}

	LeaseState state() {
		return this.state;
	}

	/**
	 * To be called often enough to see every step of the wall clock.
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

	/**
	 * End the lease, once. It is not released while a transaction under it is open.
	 * @return whether it was this call that ended it
	 */
	boolean endWith(LossReason reason) {
		return this.state.endWith(reason);
	}

	/**
	 * End the lease for a successor inside the process.
	 * @return whether it was this call that ended it
	 */
	boolean endForSuccessor() {
		return this.state.endForSuccessor();
	}

	/**
	 * The release found the store without this acquisition: the lease had been lost
	 * before, and nobody had noticed.
	 * @return whether it was this call that turned the release into a loss
	 */
	boolean endedInVain() {
		return this.state.endedInVain();
	}

	LockLostException lost() {
		LossReason reason = end();
		return new LockLostException(key().name(), token(), (reason != null) ? reason : LossReason.EXPIRED);
	}

	/**
	 * Have somebody told when this lease has ended, at once if it has.
	 */
	void observedBy(ObservedHold observed) {
		this.observed = observed;
		LossReason reason = end();
		if (reason != null) {
			observed.end(LockOutcome.LOST, lost());
		}
	}

	boolean isObserved() {
		return this.observed != null;
	}

	void observedEnd(LockOutcome outcome, @Nullable Throwable error) {
		ObservedHold observed = this.observed;
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
	 * Have the lease renewed until this is stopped for the same renewer, or for all.
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
	 * Renew the lease no more, since its handle is unreachable.
	 * @return whether this is the first call
	 */
	boolean abandon() {
		boolean first = !this.abandoned;
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

	/**
	 * Whether a thread of this process may go on under this lease without asking the
	 * store. Not if its owner has asked for more than a lease, which a successor has not,
	 * and not if it is for a run of a job, which ends with its owner.
	 */
	boolean canBeHandedOver() {
		return this.terms.firing() == null && this.state.isClear() && isHeld() && this.extensionAsked == null
				&& minHoldLeftNanos() == 0 && this.grant.hasNext()
				&& remainingNanos() >= this.terms.lease().toNanos() / 2;
	}

	/**
	 * What the release of this lease tells the next holder about its transactions.
	 */
	FenceMark markAtRelease() {
		if (this.state.isUnsettled()) {
			return FenceMark.SET;
		}
		return this.grant.fenceRaised() ? FenceMark.CLEAR : FenceMark.KEEP;
	}

	/**
	 * The same lease for the next owner, with a token of its own.
	 */
	Lease handedTo(Waiter waiter) {
		Lease next = new Lease(this.grant.next(waiter.terms().why()), waiter.terms(), waiter.thread(), this.deadline,
				this.clock);
		next.nextAttemptNanos = this.nextAttemptNanos;
		return next;
	}

	/**
	 * The lock as others of this process find it.
	 * @param acquirer what this process is called
	 * @return its state, as far as it is known without asking
	 */
	LockInfo describe(String acquirer) {
		return new LockInfo(key().name(), true, key().holder(), acquirer, this.owner.threadName(), this.grant.why(),
				this.grant.lastToken(), this.grant.acquiredAt(), null, null, null, remaining());
	}

	/**
	 * What the store has of the lock, with its present owner in this process: the store
	 * was told only of the thread that it granted the lock to.
	 */
	LockInfo describe(LockInfo stored) {
		return new LockInfo(stored.name(), stored.held(), stored.holder(), stored.acquirer(), this.owner.threadName(),
				this.grant.why(), stored.token(), stored.acquiredAt(), stored.updatedAt(), stored.expiresAt(),
				stored.releasedAt(), stored.remaining());
	}

}
