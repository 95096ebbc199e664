package dev.dblock.core;

import java.util.concurrent.locks.LockSupport;

import dev.dblock.settings.LeaseTerms;
import org.jspecify.annotations.Nullable;

/**
 * A thread in a {@link LocalQueue}. Its state changes under the queue's monitor, but the
 * thread itself parks outside of the monitor.
 */
class Waiter {

	private final Thread thread = Thread.currentThread();

	private final LeaseTerms terms;

	private volatile @Nullable LeasedLock handed;

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
	 * Return whether this waiter can continue under a lease that was acquired on other
	 * terms. A firing of a job cannot, because the store decides about it.
	 */
	boolean canFollow(LeaseTerms others) {
		return this.terms.firing() == null && this.terms.autoRenew() && this.terms.lease().equals(others.lease());
	}

	/**
	 * Return the lock that a thread of this process has handed over, if there is one.
	 */
	@Nullable LeasedLock handed() {
		return this.handed;
	}

	/**
	 * Assign the lock to this waiter, under the queue's monitor. The caller wakes the
	 * thread after it has left the monitor, on which the thread would only block.
	 */
	void hand(LeasedLock handle) {
		this.handed = handle;
	}

	/**
	 * Set whether the time of this waiter is over while the store has not answered any
	 * waiter of its queue. Guarded by the queue's monitor.
	 */
	void awaitAnswer(boolean awaiting) {
		this.awaitingAnswer = awaiting;
	}

	/**
	 * Wake this waiter if it waits for the store's first answer to its queue. Guarded by
	 * the queue's monitor.
	 */
	void answered() {
		if (this.awaitingAnswer) {
			this.awaitingAnswer = false;
			wake();
		}
	}

	/**
	 * Wake the thread, so that it checks its queue again.
	 */
	void wake() {
		LockSupport.unpark(this.thread);
	}

	/**
	 * Pause until {@link #wake()} or an interrupt, but no longer than the given time.
	 */
	void park(long nanos) {
		LockSupport.parkNanos(this, nanos);
	}

}
