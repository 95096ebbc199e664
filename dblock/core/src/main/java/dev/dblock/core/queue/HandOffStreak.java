package dev.dblock.core.queue;

import dev.dblock.settings.EngineSettings;

/**
 * Measures how long, and counts how often, a lock has been handed over inside this
 * process.
 */
final class HandOffStreak {

	/**
	 * How many times longer than a lock a permit is handed over. Waiters of other
	 * processes get one of several permits more often, and one that is released remains
	 * unused for the time of two requests.
	 */
	private static final int PERMIT_FACTOR = 4;

	private final EngineSettings.HandOff settings;

	private final int maxCount;

	private final long maxNanos;

	private int count;

	private int sinceGrant;

	private long startNanos;

	/** For how long a permit was handed over that other processes may have now. */
	private long yieldedAfterNanos = -1;

	HandOffStreak(EngineSettings.HandOff settings, long nanos) {
		this.settings = settings;
		this.maxCount = settings.maxCount();
		this.maxNanos = settings.maxTime().toNanos();
		this.startNanos = nanos;
	}

	void start(long nanos) {
		this.count = 0;
		this.startNanos = nanos;
	}

	long lengthNanos(long nanos) {
		return nanos - this.startNanos;
	}

	boolean mayGoOn(long nanos) {
		return this.count < this.maxCount && lengthNanos(nanos) < this.maxNanos;
	}

	/**
	 * Return whether other processes should go first now. Always {@code false} if
	 * hand-over is disabled, because then no thread of this process has been favored.
	 */
	boolean isOver(long nanos) {
		return this.maxCount > 0 && this.maxNanos > 0 && !mayGoOn(nanos);
	}

	void granted() {
		this.sinceGrant = 0;
	}

	/**
	 * Decide whether one of several permits is handed over. Each one that this process
	 * holds is handed over for longer than a lock, on average, and then released for
	 * other processes, while the streak of the others goes on. So a process with more
	 * permits offers more of them.
	 * @param held how many permits this process holds
	 */
	boolean mayGoOn(long nanos, int held) {
		boolean over = this.count >= this.maxCount || lengthNanos(nanos) * held >= PERMIT_FACTOR * this.maxNanos;
		if (over && this.maxCount > 0 && this.maxNanos > 0) {
			this.yieldedAfterNanos = lengthNanos(nanos);
			start(nanos);
		}
		return !over;
	}

	/**
	 * Return for how long the lock was handed over, if other processes go first after the
	 * release that has just ended.
	 * @return the time; negative if this process need not wait for others
	 */
	long endedAfterNanos(long nanos) {
		long yielded = this.yieldedAfterNanos;
		this.yieldedAfterNanos = -1;
		if (yielded >= 0) {
			return yielded;
		}
		return isOver(nanos) ? lengthNanos(nanos) : -1;
	}

	void handedOver() {
		this.count++;
		this.sinceGrant++;
	}

	/**
	 * Return how many fencing tokens a grant should include, if it can be handed over:
	 * the more often the last one was, the more.
	 */
	int tokens() {
		return this.settings.tokens(this.sinceGrant);
	}

}
