package dev.dblock.core;

import java.util.concurrent.TimeUnit;

/**
 * For how long the waiters of one process let those of others go first, after the lock
 * has gone round among them for as long as it may.
 */
final class Courtesy {

	/**
	 * A store that took longer to release has trouble of its own, and nobody elsewhere
	 * gets on sooner by our waiting for it.
	 */
	static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/**
	 * At so many releases elsewhere a process in which the lock went round for as long as
	 * it may lets the others go first, each time for less: otherwise the processes that
	 * hear of a release soonest would have the lock by turns.
	 */
	private static final int TURNS = 3;

	/** More than the others may hear of the release later, on a machine that is busy. */
	private static final int PARTS_OF_A_REQUEST = 3;

	private int turns;

	private long stepNanos;

	private long untilNanos;

	Courtesy(long nanos) {
		this.untilNanos = nanos;
	}

	long leftNanos(long nanos) {
		return this.untilNanos - nanos;
	}

	/**
	 * The lock was given back by this process: twice the time of a request is what those
	 * elsewhere need to hear of it and to ask.
	 * @param requestNanos how long the release took
	 * @param nanos the present time
	 */
	void begin(long requestNanos, long nanos) {
		long pause = Math.min(LONGEST_NANOS, 2 * requestNanos);
		this.untilNanos = nanos + pause;
		this.turns = TURNS;
		this.stepNanos = pause / (2 * PARTS_OF_A_REQUEST);
	}

	/**
	 * The lock may have been released elsewhere. What is told while others go first, such
	 * as the release that it is done for, changes nothing.
	 */
	void goOn(long nanos) {
		if (this.turns > 0 && leftNanos(nanos) <= 0) {
			this.untilNanos = nanos + this.turns * this.stepNanos;
			this.turns--;
		}
	}

	/**
	 * It was the turn of this process again.
	 */
	void end(long nanos) {
		this.turns = 0;
		this.untilNanos = nanos;
	}

}
