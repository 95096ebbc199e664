package dev.dblock.core;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.function.Predicate;

import dev.dblock.core.WaitStatistics.Cause;
import org.jspecify.annotations.Nullable;

/**
 * What one process knows of one name: who of its threads waits, first come first served,
 * and the lease that it holds itself. Only the head of the queue speaks to the store, and
 * nobody does while the process holds the lock itself or is giving it back.
 */
final class LocalQueue {

	/**
	 * The holder's end and the end of a release are told, so these waits need no bound;
	 * this one makes a mistake there a delay instead of a standstill.
	 */
	private static final long SAFETY_NANOS = TimeUnit.SECONDS.toNanos(10);

	/**
	 * A store that took longer to release has trouble of its own, and nobody elsewhere
	 * gets on sooner by our waiting for it.
	 */
	private static final long LONGEST_YIELD_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/**
	 * At so many releases elsewhere a process in which the lock went round for as long as
	 * it may lets the others go first, each time for less: otherwise the processes that
	 * hear of a release soonest would have the lock by turns.
	 */
	private static final int COURTESY = 3;

	/** More than the others may hear of the release later, on a machine that is busy. */
	private static final int PARTS_OF_A_REQUEST = 3;

	/**
	 * A release that was sent to a server which is gone may have been applied before: the
	 * waiters here need not be the last to find out.
	 */
	static final long LONGEST_RELEASE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final AtomicIntegerFieldUpdater<LocalQueue> VISITORS = AtomicIntegerFieldUpdater
		.newUpdater(LocalQueue.class, "visitors");

	private final String name;

	private final Set<Waiter> waiters = new LinkedHashSet<>();

	private final HandOffSettings handOff;

	private final HandOffStreak streak;

	private volatile @Nullable Lease holder;

	private int handOvers;

	private int releases;

	private volatile @Nullable AskPlan plan;

	private boolean signalled;

	private boolean asking;

	private int courtesy;

	private long courtesyNanos;

	private long yieldUntilNanos = System.nanoTime();

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
	 * @param removal is asked to remove the queue when nobody needs it, and tells whether
	 * it did
	 */
	LocalQueue(String name, HandOffSettings settings, long longestReleaseNanos, Predicate<LocalQueue> removal) {
		this.name = name;
		this.handOff = settings;
		this.streak = new HandOffStreak(settings, System.nanoTime());
		this.longestReleaseNanos = longestReleaseNanos;
		this.removal = removal;
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
			wakeHead();
		}
		return true;
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
		if (head() != waiter) {
			return Long.MAX_VALUE;
		}
		if (this.holder != null && !this.holder.isOver()) {
			return Math.min(SAFETY_NANOS, this.holder.remainingNanos());
		}
		long now = System.nanoTime();
		long releasing = (this.releases > 0) ? this.longestReleaseNanos - (now - this.releasingSinceNanos) : 0;
		if (releasing > 0) {
			return releasing;
		}
		long yield = this.yieldUntilNanos - now;
		AskPlan next = this.plan;
		long ask = (this.signalled || next == null) ? 0 : next.atNanos() - now;
		return Math.max(yield, ask);
	}

	/**
	 * A waiter is about to ask the store. A signal that comes while it is asking is kept
	 * for afterwards.
	 * @param waiter the waiter
	 * @return why it asks, or {@code null} when it is not its turn any more
	 */
	synchronized @Nullable Cause beginAsking(Waiter waiter) {
		if (pauseBeforeAsking(waiter) > 0) {
			return null;
		}
		AskPlan due = this.plan;
		Cause cause = this.signalled ? Cause.SIGNAL : ((due != null) ? due.cause() : Cause.FIRST);
		this.signalled = false;
		this.asking = true;
		return cause;
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
			this.plan = next;
		}
	}

	/**
	 * The store has granted the lock to a thread of this process.
	 * @param lease the new lease
	 * @param waiter the thread's place in the queue, if it had one
	 */
	synchronized void granted(Lease lease, @Nullable Waiter waiter) {
		this.holder = lease;
		this.handOvers = 0;
		this.plan = null;
		this.courtesy = 0;
		this.yieldUntilNanos = System.nanoTime();
		if (waiter != null) {
			this.waiters.remove(waiter);
			this.asking = false;
		}
		if (!this.streak.mayGoOn(System.nanoTime()) || this.waiters.isEmpty()) {
			this.streak.start(System.nanoTime());
		}
	}

	/**
	 * A lease of this process has come to an end without being handed over.
	 */
	synchronized void ended(Lease lease) {
		if (this.holder == lease) {
			this.holder = null;
			signal();
			removeIfIdle();
		}
	}

	/**
	 * Whom the lock may be handed over to inside this process.
	 */
	@Nullable Waiter successor(Lease lease) {
		assert Thread.holdsLock(this);
		Waiter next = head();
		boolean possible = this.holder == lease && next != null && lease.canBeHandedOver()
				&& next.canFollow(lease.terms()) && this.streak.mayGoOn(System.nanoTime());
		return possible ? next : null;
	}

	void handedOver(Lease lease, Waiter waiter) {
		assert Thread.holdsLock(this);
		this.holder = lease;
		this.plan = null;
		this.waiters.remove(waiter);
		this.asking = false;
		this.streak.handedOver();
		this.handOvers++;
	}

	/**
	 * The lock is about to be given back to the store.
	 * @return {@code false} when the queue is removed already
	 */
	synchronized boolean releasing() {
		if (this.releases == 0) {
			this.releasingSinceNanos = System.nanoTime();
		}
		this.releases += this.removed ? 0 : 1;
		return !this.removed;
	}

	/**
	 * The lock was given back. When it has gone round inside this process for as long as
	 * it may, the waiters here let those elsewhere go first: twice the time of a request
	 * is what those need to hear of it and to ask.
	 * @param requestNanos how long the release took
	 */
	synchronized void released(long requestNanos) {
		this.releases--;
		long now = System.nanoTime();
		if (!this.waiters.isEmpty() && this.streak.isOver(now)) {
			long yield = Math.min(LONGEST_YIELD_NANOS, 2 * requestNanos);
			this.yieldUntilNanos = now + yield;
			this.courtesy = COURTESY;
			this.courtesyNanos = yield / (2 * PARTS_OF_A_REQUEST);
		}
		signal();
		removeIfIdle();
	}

	/**
	 * The name may be free: have the head ask as soon as it may. What is told while it
	 * lets others go first, such as the release that it does so for, changes nothing.
	 */
	synchronized void signal() {
		this.signalled = true;
		long now = System.nanoTime();
		if (this.courtesy > 0 && this.yieldUntilNanos - now <= 0) {
			this.yieldUntilNanos = now + this.courtesy * this.courtesyNanos;
			this.courtesy--;
		}
		wakeHead();
	}

	/**
	 * What was known or told is of no use to those who come later.
	 */
	private void wakeHead() {
		Waiter head = head();
		if (head != null) {
			head.wake();
		}
		else {
			this.signalled = false;
			this.plan = null;
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
