package dev.dblock.core.queue;

import java.util.concurrent.locks.LockSupport;

import dev.dblock.core.lease.LeasedLock;
import dev.dblock.settings.LeaseTerms;
import org.jspecify.annotations.Nullable;

/**
 * A thread in a {@link LocalQueue}. Its state changes under the queue's monitor, but the
 * thread itself parks outside of the monitor.
 */
public class Waiter {

	private final Thread thread = Thread.currentThread();

	private final LeaseTerms terms;

	private volatile @Nullable LeasedLock handed;

	private boolean awaitingAnswer;

	private volatile boolean answered;

	public Waiter(LeaseTerms terms) {
		this.terms = terms;
	}

	public Thread thread() {
		return this.thread;
	}

	public LeaseTerms terms() {
		return this.terms;
	}

	/**
	 * Return how many holders the lock can have at the same time.
	 */
	int permits() {
		return Math.max(1, this.terms.permits());
	}

	/**
	 * Return whether this waiter can continue under a lease that was acquired on other
	 * terms. It cannot if the store records its terms with a grant.
	 */
	boolean canFollow(LeaseTerms others) {
		return !this.terms.isRecorded() && this.terms.autoRenew() && this.terms.lease().equals(others.lease())
				&& this.terms.permits() == others.permits();
	}

	/**
	 * Return the lock that a thread of this process has handed over, if there is one.
	 */
	public @Nullable LeasedLock handed() {
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
	 * Set whether the time of this waiter is over and it waits for an answer of the store
	 * to any waiter of its queue. Guarded by the queue's monitor.
	 */
	void awaitAnswer(boolean awaiting) {
		this.awaitingAnswer = awaiting;
	}

	/**
	 * Return whether the time of this waiter is over, or so nearly that an answer counts
	 * as its last one.
	 */
	public boolean isTimeOver() {
		return this.awaitingAnswer;
	}

	/**
	 * Record an answer of the store to any waiter of the queue, and wake this waiter if
	 * it waits for one. Guarded by the queue's monitor.
	 */
	void answered() {
		this.answered |= isTimeOver();
		if (this.awaitingAnswer) {
			this.awaitingAnswer = false;
			wake();
		}
	}

	/**
	 * Return whether the store has answered since {@link #isTimeOver() that time}.
	 */
	public boolean isAnsweredLate() {
		return this.answered;
	}

	/**
	 * Wake the thread, so that it checks its queue again.
	 */
	public void wake() {
		LockSupport.unpark(this.thread);
	}

}
