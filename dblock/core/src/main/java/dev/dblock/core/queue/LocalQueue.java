package dev.dblock.core.queue;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.LongUnaryOperator;
import java.util.function.Predicate;

import dev.dblock.LossReason;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.AcquireRequest;
import org.jspecify.annotations.Nullable;

/**
 * The knowledge of one process about one lock: its waiting threads, in the order of their
 * arrival, and the lease that it holds itself. Of the waiting threads, only the head
 * sends requests to the store, and not while the process holds the lock or is releasing
 * it. If the lock has permits, the process can hold several, and the head asks unless the
 * process holds or is releasing as many as there are.
 */
public final class LocalQueue {

	/**
	 * Waiters are notified of the end of the holder's lease and of the end of a release,
	 * so these waits need no bound. This bound turns a missed notification into a delay
	 * instead of a standstill, for a waiter that was already the head of the queue at its
	 * last check.
	 */
	private static final long SAFETY_NANOS = TimeUnit.SECONDS.toNanos(10);

	/**
	 * A release that was sent to a failed server may have been applied earlier. The
	 * waiters of this process need not be the last to find out.
	 */
	public static final long LONGEST_RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

	/**
	 * A head that has to wake up first is later than a thread that only retries. A head
	 * that has not sent its request within this time no longer blocks other threads.
	 */
	public static final long HEAD_START_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final AtomicIntegerFieldUpdater<LocalQueue> VISITORS = AtomicIntegerFieldUpdater
		.newUpdater(LocalQueue.class, "visitors");

	private final String name;

	private final LongSupplier nanos;

	private final Predicate<LocalQueue> removal;

	// Who is here

	private final Set<Waiter> waiters = new LinkedHashSet<>();

	/**
	 * The number of threads that use the queue, including those that were served and have
	 * not left yet.
	 */
	private volatile int visitors;

	private boolean removed;

	// The leases of this process, and its releases in progress

	private final Holders holders = new Holders();

	private final HandOffStreak streak;

	private final OwnReleases releases;

	// What comes next

	private final HeadRequest request;

	private final CrossProcessYield crossProcessYield;

	/**
	 * Create an empty queue.
	 * @param name the full name of the lock
	 * @param settings the limits of handing the lock over
	 * @param longestReleaseNanos how long a release keeps the waiters from sending
	 * requests
	 * @param pollNanos how long other processes may take to see that the lock is free
	 * because they poll, by the time for which it was held; zero if its release is
	 * reported to them
	 * @param nanos the monotonic clock for pauses
	 * @param removal removes the queue when it is no longer needed, and returns whether
	 * it did
	 */
	LocalQueue(String name, EngineSettings.HandOff settings, long longestReleaseNanos, LongUnaryOperator pollNanos,
			LongSupplier nanos, Predicate<LocalQueue> removal) {
		this.name = name;
		this.nanos = nanos;
		this.streak = new HandOffStreak(settings, now());
		this.crossProcessYield = new CrossProcessYield(pollNanos, now());
		this.request = new HeadRequest(now());
		this.releases = new OwnReleases(longestReleaseNanos);
		this.removal = removal;
	}

	private long now() {
		return this.nanos.getAsLong();
	}

	public String name() {
		return this.name;
	}

	/**
	 * Keep the queue until the caller leaves it.
	 * @return {@code false} when it is already removed
	 */
	public synchronized boolean enter() {
		if (!this.removed) {
			VISITORS.incrementAndGet(this);
		}
		return !this.removed;
	}

	/**
	 * Leave the queue. A thread that was granted or handed the lock leaves while the
	 * queue has a holder, and then without the queue's monitor.
	 */
	public void leave() {
		if (VISITORS.decrementAndGet(this) == 0 && this.holders.isEmpty()) {
			removeIfIdle();
		}
	}

	/**
	 * Remove an idle queue under its monitor, and close it from then on. A thread that
	 * found the queue earlier and comes too late looks it up again, and finds another
	 * one.
	 */
	private synchronized void removeIfIdle() {
		boolean idle = this.holders.isEmpty() && this.waiters.isEmpty() && this.releases.isEmpty()
				&& this.visitors == 0;
		this.removed |= idle && this.removal.test(this);
	}

	/**
	 * Return the leases that this process holds, as far as they can be trusted.
	 */
	public synchronized List<Lease> holders() {
		return this.holders.all(Lease::isHeld);
	}

	/**
	 * Return the leases by which this process alone keeps the lock unavailable: those
	 * that it holds, and one that it is releasing.
	 * @param permits how many permits the lock has
	 * @return as many leases as the lock has permits, or none
	 */
	public synchronized List<Lease> present(int permits) {
		boolean releasing = this.releases.leftNanos(now()) > 0;
		List<Lease> present = new ArrayList<>(this.holders
			.all((lease) -> (releasing || lease.end() == null) && isTrusted(lease) && lease.key().permit() <= permits));
		Lease returned = this.releases.returned();
		if (releasing && returned != null && present.size() < permits && isTrusted(returned)) {
			present.add(returned);
		}
		return (present.size() >= permits) ? present : List.of();
	}

	private static boolean isTrusted(Lease lease) {
		return !lease.isOver() && !lease.isUnproven();
	}

	/**
	 * Return whether the waiters of this process yield to other processes at present, or
	 * their head is due to send a request after a release. A thread without a place in
	 * the queue must not overtake either of them.
	 */
	public synchronized boolean letsOthersGoFirst() {
		long now = now();
		return !this.waiters.isEmpty() && (this.crossProcessYield.leftNanos(now) > 0 || isHeadDue(now));
	}

	/**
	 * Return whether the waiters of this process yield the lock to other processes at
	 * present.
	 */
	public synchronized boolean isYielding() {
		return this.crossProcessYield.leftNanos(now()) > 0;
	}

	private boolean isHeadDue(long now) {
		Waiter head = head();
		return head != null && !isHeldFor(head) && this.request.goesFirst(now);
	}

	/**
	 * Return whether this process holds all that a waiter could get, as far as the queue
	 * knows.
	 */
	private boolean isHeldFor(Waiter waiter) {
		return this.holders.all((lease) -> waiter.mayGet(lease)).size() >= waiter.permits();
	}

	/**
	 * Take the last place in the queue, until the lock is granted or handed over to the
	 * waiter, or the waiter quits. The queue is kept until the caller leaves it.
	 * @return {@code false} when the queue is already removed
	 */
	public synchronized boolean join(Waiter waiter) {
		return enter() && this.waiters.add(waiter);
	}

	/**
	 * Give up the place in the queue, without the lock.
	 * @return {@code false} when the lock was already handed over to this waiter
	 */
	public synchronized boolean quit(Waiter waiter) {
		boolean wasHead = head() == waiter;
		if (!this.waiters.remove(waiter)) {
			return false;
		}
		if (wasHead) {
			this.request.passOn();
			wakeHead();
		}
		return true;
	}

	/**
	 * Decide what a waiter does next. The thread does it outside of the monitor.
	 * @param waiter the waiter
	 * @param leftNanos how much of its time is left; zero or less when it is over
	 * @param answerNanos how long a pending answer may take after that time
	 * @param acquirer the name of this instance
	 * @return the turn
	 */
	public synchronized Turn turn(Waiter waiter, long leftNanos, long answerNanos, String acquirer) {
		LeasedLock handed = waiter.handed();
		waiter.asks(false);
		if (handed != null) {
			return new Turn.Take(handed);
		}
		long pauseNanos = pauseBeforeAsking(waiter);
		if (pauseNanos <= 0 && (leftNanos > 0 || asksAtLast(waiter))) {
			return ask(waiter);
		}
		if (leftNanos > 0) {
			boolean elsewhere = pauseNanos < Long.MAX_VALUE && (plan() != null || isYielding());
			return new Turn.Park(Math.min(pauseNanos, leftNanos),
					elsewhere ? Turn.Awaited.OTHER_PROCESSES : Turn.Awaited.THIS_PROCESS);
		}
		Outcome.Unavailable known = known(waiter, acquirer);
		// The head may wake up late, so its last request can begin after that time too
		if (known == null && pauseBeforeAsking(waiter) <= 0 && asksAtLast(waiter)) {
			return ask(waiter);
		}
		if (known == null && answerNanos + leftNanos > 0) {
			return new Turn.Park(answerNanos + leftNanos, Turn.Awaited.ANSWER);
		}
		quit(waiter);
		return new Turn.GiveUp(known);
	}

	private Turn ask(Waiter waiter) {
		waiter.asks(true);
		return new Turn.Ask(this.request.begin(isHeldFor(waiter)));
	}

	/**
	 * Return whether a waiter whose time is over asks before it gives up, if it may. A
	 * wait ends with a failure, or with a refusal that was answered after that time.
	 */
	private boolean asksAtLast(Waiter waiter) {
		PollPause.Plan last = plan();
		return last == null || !waiter.isAnsweredLate() && last.last().failure() == null;
	}

	/**
	 * Return the known state of the lock for a waiter whose time is over. An earlier
	 * refusal is not enough: a release may have gone unnoticed since. If the store has
	 * not answered any waiter after that time, the head sends a request now, and its
	 * answer wakes the waiter.
	 * @return the holder, or why the request to the store failed; {@code null} when an
	 * answer is pending
	 */
	private Outcome.@Nullable Unavailable known(Waiter waiter, String acquirer) {
		Lease mine = Holders.first(present(waiter.permits()));
		if (mine != null) {
			return new Outcome.Refused(mine.describe(acquirer));
		}
		PollPause.Plan last = plan();
		if (last != null && (waiter.isAnsweredLate() || last.last().failure() != null)) {
			return last.last();
		}
		if (this.request.lastWasGrant() || isYielding()) {
			return new Outcome.OthersFirst();
		}
		waiter.awaitAnswer(true);
		if (this.request.requestNow()) {
			wakeHead();
		}
		return null;
	}

	/**
	 * Return the plan for the head of the queue, if one of the waiters was already
	 * refused.
	 */
	public PollPause.@Nullable Plan plan() {
		return this.request.plan();
	}

	/**
	 * Return how long a waiter has to wait before it may send a request to the store.
	 * @param waiter the waiter
	 * @return the pause; zero or less when it is its turn now, and unlimited while others
	 * are before it
	 */
	public synchronized long pauseBeforeAsking(Waiter waiter) {
		long now = now();
		long own = pauseOfThisProcess(waiter, now);
		if (own > 0) {
			return own;
		}
		return Math.max(this.crossProcessYield.leftNanos(now), this.request.pauseNanos(now));
	}

	private long pauseOfThisProcess(Waiter waiter, long now) {
		if (head() != waiter) {
			return Long.MAX_VALUE;
		}
		List<Lease> held = this.holders.all((lease) -> !lease.isOver() && waiter.mayGet(lease));
		Lease first = (held.size() >= waiter.permits()) ? Holders.first(held) : null;
		if (first != null) {
			return Math.min(SAFETY_NANOS, first.remainingNanos());
		}
		long kept = held.stream().filter((lease) -> lease.end() == null).count();
		boolean oneIsReleased = kept + this.releases.count() >= waiter.permits();
		return oneIsReleased ? this.releases.leftNanos(now) : 0;
	}

	/**
	 * Return how many fencing tokens a grant should include.
	 * @param asking the requesting thread's place in the queue, if it has one
	 * @param terms the terms of the request
	 */
	public synchronized int tokens(@Nullable Waiter asking, LeaseTerms terms) {
		boolean others = this.waiters.stream()
			.filter((waiter) -> waiter != asking)
			.findFirst()
			.filter((next) -> next.canFollow(terms))
			.isPresent();
		return others ? this.streak.tokens() : AcquireRequest.USUAL_TOKENS;
	}

	/**
	 * Record that the store has not granted the lock to a waiter.
	 * @param waiter the waiter
	 * @param next when to send the next request, for the head of the queue at that time
	 */
	public synchronized void refused(Waiter waiter, PollPause.Plan next) {
		if (head() == waiter) {
			this.request.refused(next);
			this.waiters.forEach(Waiter::answered);
		}
	}

	/**
	 * Record that the store has granted the lock to a thread of this process. If that
	 * thread has no place in the queue, the streak of hand-overs goes on as before, and
	 * the waiters continue to yield to other processes.
	 * @param lease the new lease
	 * @param waiter the thread's place in the queue, if it had one
	 */
	public synchronized void granted(Lease lease, @Nullable Waiter waiter) {
		this.holders.add(lease);
		this.streak.granted();
		boolean afterOthers = this.request.granted(waiter != null);
		if (waiter != null) {
			this.waiters.remove(waiter);
		}
		this.waiters.forEach(Waiter::answered);
		if (waiter != null || this.waiters.isEmpty()) {
			long now = now();
			this.crossProcessYield.end(afterOthers, now);
			if (!this.streak.mayGoOn(now) || this.waiters.isEmpty()) {
				this.streak.start(now);
			}
		}
		wakeHeadForMore(lease);
	}

	/**
	 * Record that a lease of this process has ended without a hand-over.
	 */
	public synchronized void ended(Lease lease) {
		if (this.holders.remove(lease)) {
			this.releases.returned(lease);
			// Otherwise, the end of the release is the signal
			if (lease.key().permits() <= 1 || lease.end() != LossReason.RELEASED || this.releases.isEmpty()) {
				signal();
			}
			removeIfIdle();
		}
	}

	/**
	 * Hand a lease of this process over to its next thread, if there is one that may have
	 * it.
	 * @param lease the lease, which ends for its successor
	 * @param keep starts to maintain the successor
	 * @return the waiter that has the lock now, and is to be woken outside of the
	 * monitor, on which it would only block
	 */
	public synchronized @Nullable Waiter handOver(Lease lease, Function<Lease, LeasedLock> keep) {
		Waiter next = successor(lease);
		if (next == null || !lease.state().endForSuccessor()) {
			return null;
		}
		Lease successor = lease.successor(next.terms(), next.thread());
		LeasedLock handle = keep.apply(successor);
		this.holders.add(successor);
		if (next.permits() == 1) {
			// Of several permits, the last answer still applies to the others
			this.request.handedOver();
		}
		this.waiters.remove(next);
		this.streak.handedOver();
		next.hand(handle);
		wakeHeadForMore(lease);
		return next;
	}

	private @Nullable Waiter successor(Lease lease) {
		Waiter next = this.waiters.stream().filter((waiter) -> !waiter.isAsking()).findFirst().orElse(null);
		if (next == null || !this.holders.contains(lease) || !lease.canBeHandedOver()
				|| !next.canFollow(lease.terms())) {
			return null;
		}
		long now = now();
		// While others go first, another permit would only prolong that
		boolean mayGoOn = (next.permits() > 1)
				? this.crossProcessYield.leftNanos(now) > 0 || this.streak.mayGoOn(now, this.holders.size())
				: this.streak.mayGoOn(now);
		return mayGoOn ? next : null;
	}

	/**
	 * Wake the head after the one before it has got a permit, since there may be more of
	 * them.
	 */
	private void wakeHeadForMore(Lease granted) {
		Waiter head = head();
		if (granted.key().permits() > 1 || head != null && head.permits() > 1) {
			wakeHead();
		}
	}

	/**
	 * Record that the lock is about to be released to the store.
	 * @return {@code false} when the queue is already removed
	 */
	public synchronized boolean releasing() {
		if (!this.removed) {
			this.releases.begin(now());
		}
		return !this.removed;
	}

	/**
	 * Record that the release is over. If the lock has been handed over inside this
	 * process for as long as allowed, the waiters of this process yield to other
	 * processes.
	 * @param requestNanos how long the release took
	 */
	public synchronized void released(long requestNanos) {
		this.releases.end();
		long now = now();
		long handedOverNanos = this.streak.endedAfterNanos(now);
		if (!this.waiters.isEmpty()) {
			if (handedOverNanos >= 0) {
				this.crossProcessYield.begin(requestNanos, handedOverNanos, now);
			}
			this.request.giveHeadStart(now + Math.max(0, this.crossProcessYield.leftNanos(now)));
		}
		signal();
		removeIfIdle();
	}

	/**
	 * Signal that the lock may be free, so that the head sends a request as soon as it
	 * may.
	 * @return whether there is a head
	 */
	public synchronized boolean signal() {
		this.request.signal();
		wakeHead();
		return head() != null;
	}

	/**
	 * Wake the head of the queue. Without a head, the known state and signals are
	 * discarded because they are of no use to later waiters.
	 */
	private void wakeHead() {
		Waiter head = head();
		if (head != null) {
			head.wake();
		}
		else {
			this.request.forget();
		}
	}

	public synchronized void wakeAll() {
		this.waiters.forEach(Waiter::wake);
	}

	public synchronized int waiters() {
		return this.waiters.size();
	}

	private @Nullable Waiter head() {
		Iterator<Waiter> iterator = this.waiters.iterator();
		return iterator.hasNext() ? iterator.next() : null;
	}

}
