package dev.dblock.core;

import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * A thread in a {@link LocalQueue}. Its state changes under the queue's monitor; the
 * thread itself parks outside of it.
 */
class Waiter {

	private final Thread thread = Thread.currentThread();

	private final LeaseTerms terms;

	private volatile @Nullable LeaseHandle handed;

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
	 * The lock that a thread of this process has handed over, if one has.
	 */
	@Nullable LeaseHandle handed() {
		return this.handed;
	}

	void hand(LeaseHandle handle) {
		this.handed = handle;
		wake();
	}

	/**
	 * Have the thread look at its queue again.
	 */
	void wake() {
		LockSupport.unpark(this.thread);
	}

	void park(long nanos) {
		LockSupport.parkNanos(this, nanos);
	}

}
