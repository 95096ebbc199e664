package dev.dblock.core.queue;

import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;

/**
 * The pause in which the waiters of one process yield a lock to other processes, after it
 * has been handed over among them for as long as allowed.
 */
final class CrossProcessYield {

	/**
	 * A store that took longer to release is itself slow, and a longer pause here would
	 * not help any process.
	 */
	static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final LongUnaryOperator pollNanos;

	private long turnSinceNanos;

	private boolean turnOver;

	private long untilNanos;

	/**
	 * Create a yield at the beginning of a turn, without a pause.
	 * @param pollNanos how long other processes may take to see that the lock is free
	 * because they poll, by the time for which it was held; zero if its release is
	 * reported to them
	 * @param nanos the present time
	 */
	CrossProcessYield(LongUnaryOperator pollNanos, long nanos) {
		this.pollNanos = pollNanos;
		this.turnSinceNanos = nanos;
		this.untilNanos = nanos;
	}

	long leftNanos(long nanos) {
		return this.untilNanos - nanos;
	}

	/**
	 * Begin the pause after this process has released the lock. Other processes need
	 * twice the time of a request to learn of the release and to send their own request.
	 * A process that polls may do so just before the pause and not again for a whole poll
	 * interval. A pause of that length after each run of hand-overs would leave the lock
	 * unused most of the time, so it comes after a turn of the same length.
	 * @param requestNanos how long the release took
	 * @param heldNanos how long the lock was held before, hand-overs included
	 * @param nanos the present time
	 */
	void begin(long requestNanos, long heldNanos, long nanos) {
		long pause = Math.min(LONGEST_NANOS, 2 * requestNanos);
		long poll = this.pollNanos.applyAsLong(heldNanos);
		if (poll > 0 && nanos - this.turnSinceNanos >= poll) {
			this.turnOver = true;
			pause += poll;
		}
		this.untilNanos = nanos + pause;
	}

	/**
	 * End the pause because this process has acquired the lock again.
	 * @param afterOthers whether another process was seen to hold it before
	 * @param nanos the present time
	 */
	void end(boolean afterOthers, long nanos) {
		if (afterOthers || (this.turnOver && leftNanos(nanos) <= 0)) {
			this.turnOver = false;
			this.turnSinceNanos = nanos;
		}
		this.untilNanos = nanos;
	}

}
