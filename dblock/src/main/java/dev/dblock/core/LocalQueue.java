package dev.dblock.core;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Predicate;

import dev.dblock.settings.HandOffSettings;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.AcquireRequest;
import org.jspecify.annotations.Nullable;

/**
 * What one process knows of one name: who of its threads waits, first come first served,
 * and the lease that it holds itself. Only the head of the queue speaks to the store, and
 * nobody does while the process holds the lock itself or is giving it back.
 */
final class LocalQueue {

	/**
	 * The holder's end and the end of a release are told, so these waits need no bound;
	 * this one makes a mistake there a delay instead of a standstill, for whoever was the
	 * head of the queue already when it looked last.
	 */
	private static final long SAFETY_NANOS = TimeUnit.SECONDS.toNanos(10);

	/**
	 * A release that was sent to a server which is gone may have been applied before: the
	 * waiters here need not be the last to find out.
	 */
	static final long LONGEST_RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

	/**
	 * A head that has to wake first is later than a thread that only tries again and
	 * again. One that still has not asked by then keeps nobody else from the lock.
	 */
	static final long HEAD_START_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private static final AtomicIntegerFieldUpdater<LocalQueue> VISITORS = AtomicIntegerFieldUpdater
		.newUpdater(LocalQueue.class, "visitors");

	private final String name;

	private final Set<Waiter> waiters = new LinkedHashSet<>();

	private final HandOffSettings handOff;

	private final HandOffStreak streak;

	private final LongSupplier nanos;

	private volatile @Nullable Lease holder;

	private int handOvers;

	private int releases;

	private @Nullable Lease givenBack;

	private volatile @Nullable AskPlan plan;

	/** Whether the last answer, for those who wait now, was a grant. */
	private boolean granted;

	private boolean signalled;

	private boolean asking;

	private boolean outOfTurn;

	private final CrossProcessYield crossProcessYield;

	private long headStartUntilNanos;

	private final Predicate<LocalQueue> removal;

	/** Who is in the queue, and who was served and has not left yet. */
	private volatile int visitors;

	private boolean removed;

	private long releasingSinceNanos;

	private final long longestReleaseNanos;

	/**
	 * An empty queue.
	 * @param name the full name of the lock
	 * @param settings how far the lock is handed on
	 * @param longestReleaseNanos for how long a release keeps the waiters from asking
	 * @param pollNanos how long other processes may take to see that the lock is free
	 * because they poll; zero while releases are reported
	 * @param nanos the monotonic clock for pauses
	 * @param removal is asked to remove the queue when nobody needs it, and tells whether
	 * it did
	 */
	LocalQueue(String name, HandOffSettings settings, long longestReleaseNanos, LongSupplier pollNanos,
			LongSupplier nanos, Predicate<LocalQueue> removal) {
		this.name = name;
		this.handOff = settings;
		this.nanos = nanos;
		this.streak = new HandOffStreak(settings, now());
		this.crossProcessYield = new CrossProcessYield(pollNanos, now());
		this.headStartUntilNanos = now();
		this.longestReleaseNanos = longestReleaseNanos;
		this.removal = removal;
	}

	private long now() {
		return this.nanos.getAsLong();
	}

	String name() {
		return this.name;
	}

	/**
	 * Keep the queue until the caller leaves it.
	 * @return {@code false} when it is removed already
	 */
	synchronized boolean enter() {
		if (!this.removed) {
			VISITORS.incrementAndGet(this);
		}
		return !this.removed;
	}

	/**
	 * Whoever was handed the lock, or granted it, leaves while the queue has a holder,
	 * and then without its monitor.
	 */
	void leave() {
		if (VISITORS.decrementAndGet(this) == 0 && this.holder == null) {
			removeIfIdle();
		}
	}

	/**
	 * Removed under the monitor, and closed to everybody from then on: who has found the
	 * queue before and comes too late looks for it again, and finds another.
	 */
	private synchronized void removeIfIdle() {
		boolean idle = this.holder == null && this.waiters.isEmpty() && this.releases == 0 && this.visitors == 0;
		this.removed |= idle && this.removal.test(this);
	}

	/**
	 * The lease that this process holds, as far as it may be believed in.
	 */
	synchronized @Nullable Lease holder() {
		Lease lease = this.holder;
		return (lease != null && lease.isHeld()) ? lease : null;
	}

	/**
	 * The lease of this process that keeps the name taken: the one that it holds, or that
	 * it is giving back.
	 */
	synchronized @Nullable Lease present() {
		Lease lease = this.holder;
		if (releasingNanos(now()) > 0) {
			lease = (lease != null) ? lease : this.givenBack;
		}
		else if (lease != null && lease.end() != null) {
			return null;
		}
		return (lease != null && !lease.isOver() && !lease.isUnproven()) ? lease : null;
	}

	/**
	 * Whether those who wait here let other processes go first at the moment, or the
	 * first of them is to ask after a release. Who has no place in the queue must not go
	 * before either of them.
	 */
	synchronized boolean letsOthersGoFirst() {
		long now = now();
		return !this.waiters.isEmpty() && (this.crossProcessYield.leftNanos(now) > 0 || isHeadDue(now));
	}

	/**
	 * Whether those who wait here leave the lock to other processes at the moment.
	 */
	synchronized boolean isYielding() {
		return this.crossProcessYield.leftNanos(now()) > 0;
	}

	private boolean isHeadDue(long now) {
		return this.holder == null && (this.signalled || this.asking) && this.headStartUntilNanos - now > 0;
	}

	/**
	 * Take the last place in the queue, until the lock is granted or handed over to the
	 * waiter, or it quits; and keep the queue until the caller leaves it.
	 * @return {@code false} when the queue is removed already
	 */
	synchronized boolean join(Waiter waiter) {
		return enter() && this.waiters.add(waiter);
	}

	/**
	 * Give up the place in the queue, without the lock.
	 * @return {@code false} when the lock was handed over to this waiter already
	 */
	synchronized boolean quit(Waiter waiter) {
		boolean wasHead = head() == waiter;
		if (!this.waiters.remove(waiter)) {
			return false;
		}
		if (wasHead) {
			this.signalled |= this.asking;
			this.asking = false;
			this.outOfTurn = false;
			wakeHead();
		}
		return true;
	}

	/**
	 * What is known of the lock to a waiter whose time is up. Where it is nothing, since
	 * the store has not answered any waiter yet, the waiter is woken by the first answer.
	 * @param waiter the waiter
	 * @param acquirer how this instance is called
	 * @return the holder, or why the store could not be asked; {@code null} when nothing
	 * is known
	 */
	synchronized @Nullable Outcome known(Waiter waiter, String acquirer) {
		Lease mine = present();
		if (mine != null) {
			return Outcome.refused(mine.describe(acquirer));
		}
		AskPlan last = this.plan;
		if (last != null) {
			return last.last();
		}
		if (this.granted || this.crossProcessYield.isForPolling(now())) {
			return Outcome.OTHERS_FIRST;
		}
		waiter.awaitAnswer(true);
		return null;
	}

	/**
	 * What the head of the queue is to go by, if one of the waiters was refused already.
	 */
	@Nullable AskPlan plan() {
		return this.plan;
	}

	/**
	 * How long a waiter has to wait before it may ask the store.
	 * @param waiter the waiter
	 * @return the pause; zero or less when it is its turn now, and no end while others
	 * are before it
	 */
	synchronized long pauseBeforeAsking(Waiter waiter) {
		long now = now();
		long own = pauseUntilTold(waiter, now);
		if (own > 0) {
			return own;
		}
		AskPlan next = this.plan;
		long ask = (this.signalled || next == null) ? 0 : next.atNanos() - now;
		return Math.max(this.crossProcessYield.leftNanos(now), ask);
	}

	private long pauseUntilTold(Waiter waiter, long now) {
		long pause = pauseOfThisProcess(waiter, now);
		if (pause > 0) {
			waiter.expectNews(true);
		}
		return pause;
	}

	private long pauseOfThisProcess(Waiter waiter, long now) {
		if (head() != waiter) {
			return Long.MAX_VALUE;
		}
		if (this.holder != null && !this.holder.isOver()) {
			return Math.min(SAFETY_NANOS, this.holder.remainingNanos());
		}
		return releasingNanos(now);
	}

	private long releasingNanos(long now) {
		return (this.releases > 0) ? this.longestReleaseNanos - (now - this.releasingSinceNanos) : 0;
	}

	/**
	 * A waiter is about to ask the store. A signal that comes while it is asking is kept
	 * for afterwards.
	 * @param waiter the waiter
	 * @return why it asks, or {@code null} when it is not its turn any more
	 */
	synchronized @Nullable WaitCause beginAsking(Waiter waiter) {
		return (pauseBeforeAsking(waiter) > 0) ? null : begin(waiter);
	}

	/**
	 * A waiter whose time is up is about to ask the store, before it goes without knowing
	 * whether the name is free. It does not let others go first for that, except those
	 * who poll, and if it is granted the lock, that was not the turn of those who wait
	 * here.
	 * @param waiter the waiter
	 * @return why it asks, or {@code null} when it is not its turn, or when it is known
	 * that somebody else has the lock
	 */
	synchronized @Nullable WaitCause beginAskingAtLast(Waiter waiter) {
		long now = now();
		if (pauseUntilTold(waiter, now) > 0 || (this.plan != null && !this.signalled)
				|| this.crossProcessYield.isForPolling(now)) {
			return null;
		}
		this.outOfTurn = this.crossProcessYield.leftNanos(now) > 0;
		return begin(waiter);
	}

	private WaitCause begin(Waiter waiter) {
		WaitCause cause = waiter.isExpectingNews() ? causeWithoutNews() : cause();
		waiter.expectNews(false);
		this.signalled = false;
		this.asking = true;
		return cause;
	}

	private WaitCause cause() {
		AskPlan due = this.plan;
		return this.signalled ? WaitCause.SIGNAL : ((due != null) ? due.cause() : WaitCause.FIRST);
	}

	private WaitCause causeWithoutNews() {
		if (this.holder != null) {
			return WaitCause.EXPIRY;
		}
		return (this.releases > 0) ? WaitCause.SLOW_RELEASE : WaitCause.UNTOLD;
	}

	/**
	 * How many fencing tokens a grant should bring along.
	 * @param asking the place in the queue of the thread that asks, if it has one
	 * @param terms how it asks
	 */
	synchronized int tokens(@Nullable Waiter asking, LeaseTerms terms) {
		boolean others = this.waiters.stream()
			.filter((waiter) -> waiter != asking)
			.findFirst()
			.filter((next) -> next.canFollow(terms))
			.isPresent();
		return others ? this.handOff.tokens(this.handOvers) : AcquireRequest.USUAL_TOKENS;
	}

	/**
	 * The store has not granted the lock to a waiter.
	 * @param waiter the waiter
	 * @param next when to ask again, whoever is the head then
	 */
	synchronized void refused(Waiter waiter, AskPlan next) {
		if (head() == waiter) {
			this.asking = false;
			this.outOfTurn = false;
			this.plan = next;
			this.granted = false;
			this.waiters.forEach(Waiter::answered);
		}
	}

	/**
	 * The store has granted the lock to a thread of this process. When that was not the
	 * turn of those who wait here, the lock has gone round here for as long as before,
	 * and they go on to let others go first.
	 * @param lease the new lease
	 * @param waiter the thread's place in the queue, if it had one
	 */
	synchronized void granted(Lease lease, @Nullable Waiter waiter) {
		this.holder = lease;
		this.handOvers = 0;
		boolean afterOthers = this.plan != null && this.plan.last().failure() == null;
		this.plan = null;
		this.granted = true;
		boolean inTurn = waiter != null && !this.outOfTurn;
		if (waiter != null) {
			this.waiters.remove(waiter);
			this.asking = false;
			this.outOfTurn = false;
		}
		this.waiters.forEach(Waiter::answered);
		if (inTurn || this.waiters.isEmpty()) {
			long now = now();
			this.crossProcessYield.end(afterOthers, now);
			if (!this.streak.mayGoOn(now) || this.waiters.isEmpty()) {
				this.streak.start(now);
			}
		}
	}

	/**
	 * A lease of this process has come to an end without being handed over.
	 */
	synchronized void ended(Lease lease) {
		if (this.holder == lease) {
			this.holder = null;
			this.givenBack = (this.releases > 0) ? lease : null;
			signal();
			removeIfIdle();
		}
	}

	/**
	 * Hand a lease of this process over to the thread of it that is next, if there is one
	 * that may have it.
	 * @param lease the lease, which ends for its successor
	 * @param keep has the successor kept from now on
	 * @return who has the lock now, and is to be woken; without the monitor, which it
	 * would only run into
	 */
	synchronized @Nullable Waiter handOver(Lease lease, Function<Lease, LeaseHandle> keep) {
		Waiter next = successor(lease);
		if (next == null || !lease.endForSuccessor()) {
			return null;
		}
		Lease successor = lease.handedTo(next);
		LeaseHandle handle = keep.apply(successor);
		this.holder = successor;
		this.plan = null;
		this.waiters.remove(next);
		this.asking = false;
		this.outOfTurn = false;
		this.streak.handedOver();
		this.handOvers++;
		next.hand(handle);
		return next;
	}

	private @Nullable Waiter successor(Lease lease) {
		Waiter next = head();
		boolean possible = this.holder == lease && next != null && lease.canBeHandedOver()
				&& next.canFollow(lease.terms()) && this.streak.mayGoOn(now());
		return possible ? next : null;
	}

	/**
	 * The lock is about to be given back to the store.
	 * @return {@code false} when the queue is removed already
	 */
	synchronized boolean releasing() {
		if (this.releases == 0) {
			this.releasingSinceNanos = now();
		}
		this.releases += this.removed ? 0 : 1;
		return !this.removed;
	}

	/**
	 * The lock was given back. When it has gone round inside this process for as long as
	 * it may, the waiters here let those elsewhere go first.
	 * @param requestNanos how long the release took
	 */
	synchronized void released(long requestNanos) {
		this.releases--;
		this.givenBack = (this.releases > 0) ? this.givenBack : null;
		long now = now();
		if (!this.waiters.isEmpty()) {
			if (this.streak.isOver(now)) {
				this.crossProcessYield.begin(requestNanos, now);
			}
			this.headStartUntilNanos = now + Math.max(0, this.crossProcessYield.leftNanos(now)) + HEAD_START_NANOS;
		}
		signal();
		removeIfIdle();
	}

	/**
	 * The name may be free: have the head ask as soon as it may.
	 */
	synchronized void signal() {
		this.signalled = true;
		wakeHead();
	}

	/**
	 * What was known or told is of no use to those who come later.
	 */
	private void wakeHead() {
		Waiter head = head();
		if (head != null) {
			head.expectNews(false);
			head.wake();
		}
		else {
			this.signalled = false;
			this.plan = null;
			this.granted = false;
		}
	}

	synchronized void wakeAll() {
		this.waiters.forEach(Waiter::wake);
	}

	synchronized int waiters() {
		return this.waiters.size();
	}

	private @Nullable Waiter head() {
		Iterator<Waiter> iterator = this.waiters.iterator();
		return iterator.hasNext() ? iterator.next() : null;
	}

}
