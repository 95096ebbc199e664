package dev.dblock.core;

import java.util.concurrent.locks.LockSupport;

import dev.dblock.settings.LeaseTerms;
import org.jspecify.annotations.Nullable;

/**
 * A thread in a {@link LocalQueue}. Its state changes under the queue's monitor; the
 * thread itself parks outside of it.
 */
class Waiter {

	private final Thread thread = Thread.currentThread();

	private final LeaseTerms terms;

	private volatile @Nullable LeaseHandle handed;

	private boolean expectingNews;

	private boolean awaitingAnswer;

	Waiter(LeaseTerms terms) {
		this.terms = terms;
	}

	Thread thread() {
		return this.thread;
	}

	LeaseTerms terms() {
		return this.terms;
	}

	/**
	 * Whether this waiter can go on under a lease that was acquired on other terms. A
	 * firing of a job cannot: the store decides about it.
	 */
	boolean canFollow(LeaseTerms others) {
		return this.terms.firing() == null && this.terms.autoRenew() && this.terms.lease().equals(others.lease());
	}

	/**
	 * The lock that a thread of this process has handed over, if one has.
	 */
	@Nullable LeaseHandle handed() {
		return this.handed;
	}

	/**
	 * Give the lock to this waiter, under the queue's monitor. Whoever does so wakes it
	 * when it has left the monitor, which the thread would only run into.
	 */
	void hand(LeaseHandle handle) {
		this.handed = handle;
	}

	/**
	 * Whether this waiter was found to have to wait for others of its process, and was
	 * told nothing since. Belongs to the queue's monitor, like the change of it.
	 */
	boolean isExpectingNews() {
		return this.expectingNews;
	}

	void expectNews(boolean expecting) {
		this.expectingNews = expecting;
	}

	/**
	 * Set whether the time of this waiter is up while the store has not answered any
	 * waiter of its queue. Belongs to the queue's monitor.
	 */
	void awaitAnswer(boolean awaiting) {
		this.awaitingAnswer = awaiting;
	}

	/**
	 * The store has answered one of the waiters. Belongs to the queue's monitor.
	 */
	void answered() {
		if (this.awaitingAnswer) {
			this.awaitingAnswer = false;
			wake();
		}
	}

	/**
	 * Have the thread look at its queue again.
	 */
	void wake() {
		LockSupport.unpark(this.thread);
	}

	/**
	 * Pause until {@link #wake()} or an interrupt, for so long at most.
	 * @return {@code false} when nobody ended the pause
	 */
	boolean park(long nanos) {
		long start = System.nanoTime();
		LockSupport.parkNanos(this, nanos);
		return System.nanoTime() - start < nanos;
	}

}
