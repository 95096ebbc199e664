package dev.dblock.core.queue;

import dev.dblock.core.queue.PollPause.WaitCause;
import org.jspecify.annotations.Nullable;

/**
 * The next request of the head of a {@link LocalQueue}, and the last answer of the store.
 * Guarded by the queue's monitor; only the plan is read without it.
 */
final class HeadRequest {

	private volatile PollPause.@Nullable Plan plan;

	/** Whether the last answer that concerns the present waiters was a grant. */
	private boolean lastWasGrant;

	private boolean signalled;

	private boolean inProgress;

	/** Whether the head is to ask at once, for a waiter whose time is over. */
	private boolean requested;

	private long headStartUntilNanos;

	HeadRequest(long nanos) {
		this.headStartUntilNanos = nanos;
	}

	/**
	 * Return the last answer and when to ask again, if one of the waiters was refused.
	 */
	PollPause.@Nullable Plan plan() {
		return this.plan;
	}

	boolean lastWasGrant() {
		return this.lastWasGrant;
	}

	/**
	 * Return how long the head waits before it asks, if no signal arrives.
	 */
	long pauseNanos(long nanos) {
		PollPause.Plan next = this.plan;
		return (this.signalled || this.requested || next == null) ? 0 : next.atNanos() - nanos;
	}

	/**
	 * Return whether the head is about to ask, and no other thread may overtake it.
	 */
	boolean goesFirst(long nanos) {
		return (this.signalled || this.inProgress) && this.headStartUntilNanos - nanos > 0;
	}

	void giveHeadStart(long nanos) {
		this.headStartUntilNanos = nanos + LocalQueue.HEAD_START_NANOS;
	}

	void signal() {
		this.signalled = true;
	}

	/**
	 * Let the head ask at once, unless it does or has not asked before.
	 * @return whether it has to be woken
	 */
	boolean requestNow() {
		boolean first = this.plan != null && !this.inProgress && !this.requested;
		this.requested |= first;
		return first;
	}

	/**
	 * Begin the request. A signal that arrives while it is in progress is kept for later.
	 * @param held whether this process holds the lock, as far as the queue knows
	 * @return the cause of the request
	 */
	WaitCause begin(boolean held) {
		WaitCause cause = cause(held);
		this.signalled = false;
		this.requested = false;
		this.inProgress = true;
		return cause;
	}

	private WaitCause cause(boolean held) {
		if (this.signalled) {
			return WaitCause.SIGNAL;
		}
		if (held) {
			return WaitCause.EXPIRY;
		}
		PollPause.Plan due = this.plan;
		return (due != null) ? due.cause() : WaitCause.FIRST;
	}

	/**
	 * Leave the request to the next head, because the head quits.
	 */
	void passOn() {
		this.signalled |= this.inProgress;
		this.inProgress = false;
	}

	void refused(PollPause.Plan next) {
		this.inProgress = false;
		this.plan = next;
		this.lastWasGrant = false;
	}

	/**
	 * Record a grant to this process.
	 * @param toHead whether the head asked, and not a thread without a place
	 * @return whether another process was seen to hold the lock before
	 */
	boolean granted(boolean toHead) {
		boolean afterOthers = this.plan != null && this.plan.last().failure() == null;
		this.plan = null;
		this.lastWasGrant = true;
		this.inProgress &= !toHead;
		return afterOthers;
	}

	/**
	 * Record that the head has the lock without a request.
	 */
	void handedOver() {
		this.plan = null;
		this.inProgress = false;
	}

	/**
	 * Forget what is of no use to later waiters, since there are none now.
	 */
	void forget() {
		this.signalled = false;
		this.requested = false;
		this.plan = null;
		this.lastWasGrant = false;
	}

}
