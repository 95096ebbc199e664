package dev.dblock.core;

import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

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
	private static final long SAFETY_NANOS = 10_000_000_000L;

	private final String name;

	private final LockClock clock;

	private final Set<Waiter> waiters = new LinkedHashSet<>();

	private final HandOffStreak streak;

	private @Nullable Lease holder;

	private int releases;

	private boolean yielding;

	private long yieldUntilNanos;

	/**
	 * How many threads and leases need this queue; guarded by {@link LocalQueues}.
	 */
	private int users;

	LocalQueue(String name, LockClock clock, HandOffSettings settings) {
		this.name = name;
		this.clock = clock;
		this.streak = new HandOffStreak(settings);
	}

	String name() {
		return this.name;
	}

	int addUsers(int more) {
		this.users += more;
		return this.users;
	}

	/**
	 * The lease that this process holds, as far as it may be believed in.
	 */
	synchronized @Nullable Lease holder() {
		Lease lease = this.holder;
		return (lease != null && lease.isHeld()) ? lease : null;
	}

	synchronized Waiter join(LeaseTerms terms) {
		Waiter waiter = new Waiter(terms);
		this.waiters.add(waiter);
		return waiter;
	}

	/**
	 * Leave the queue without the lock.
	 * @return {@code false} when the lock was handed over to this waiter already
	 */
	synchronized boolean quit(Waiter waiter) {
		boolean wasHead = head() == waiter;
		if (!this.waiters.remove(waiter)) {
			return false;
		}
		if (wasHead) {
			signal();
		}
		return true;
	}

	/**
	 * How long a waiter has to wait before it may ask the store.
	 * @param waiter the waiter
	 * @param nextAskNanos when it would ask without a signal, on the monotonic clock
	 * @return the pause; zero or less when it is its turn now
	 */
	synchronized long pauseBeforeAsking(Waiter waiter, long nextAskNanos) {
		if (head() != waiter) {
			return Long.MAX_VALUE;
		}
		if (this.holder != null && !this.holder.isOver()) {
			return Math.min(SAFETY_NANOS, this.holder.remainingNanos());
		}
		if (this.releases > 0) {
			return SAFETY_NANOS;
		}
		long now = this.clock.nanoTime();
		long yield = this.yielding ? this.yieldUntilNanos - now : 0;
		this.yielding = yield > 0;
		long ask = waiter.isSignalled() ? 0 : nextAskNanos - now;
		return Math.max(yield, ask);
	}

	/**
	 * The store has granted the lock to a thread of this process.
	 * @param lease the new lease
	 * @param waiter the thread's place in the queue, if it had one
	 * @return whether the queue had no lease before
	 */
	synchronized boolean granted(Lease lease, @Nullable Waiter waiter) {
		boolean first = this.holder == null;
		this.holder = lease;
		this.waiters.remove(waiter);
		if (!this.streak.mayGoOn(this.clock.nanoTime()) || this.waiters.isEmpty()) {
			this.streak.start(this.clock.nanoTime());
		}
		return first;
	}

	/**
	 * A lease of this process has come to an end without being handed over.
	 * @return whether it was the one that the queue had
	 */
	synchronized boolean ended(Lease lease) {
		if (this.holder != lease) {
			return false;
		}
		this.holder = null;
		signal();
		return true;
	}

	/**
	 * Whom the lock may be handed over to inside this process.
	 */
	@Nullable Waiter successor(Lease lease) {
		assert Thread.holdsLock(this);
		Waiter next = head();
		boolean possible = this.holder == lease && next != null && lease.canBeHandedOver() && next.terms().autoRenew()
				&& next.terms().lease().equals(lease.terms().lease()) && this.streak.mayGoOn(this.clock.nanoTime());
		return possible ? next : null;
	}

	void handedOver(Lease lease, Waiter waiter) {
		assert Thread.holdsLock(this);
		this.holder = lease;
		this.waiters.remove(waiter);
		this.streak.handedOver();
	}

	/**
	 * The lock is about to be given back to the store.
	 */
	synchronized void releasing() {
		this.releases++;
	}

	/**
	 * The lock was given back. When it has gone round inside this process for as long as
	 * it may, the waiters here let those elsewhere go first: twice the time of a request
	 * is what those need to hear of it and to ask.
	 * @param requestNanos how long the release took
	 */
	synchronized void released(long requestNanos) {
		this.releases--;
		long now = this.clock.nanoTime();
		if (!this.waiters.isEmpty() && this.streak.isOver(now)) {
			this.yielding = true;
			this.yieldUntilNanos = now + 2 * requestNanos;
		}
		signal();
	}

	/**
	 * The name may be free: have the head ask as soon as it may.
	 */
	synchronized void signal() {
		Waiter head = head();
		if (head != null) {
			head.signal();
		}
	}

	synchronized void wakeAll() {
		this.waiters.forEach(Waiter::wake);
	}

	private @Nullable Waiter head() {
		Iterator<Waiter> iterator = this.waiters.iterator();
		return iterator.hasNext() ? iterator.next() : null;
	}

}
