package dev.dblock.core.queue;

import dev.dblock.settings.EngineSettings;

/**
 * Measures how long, and counts how often, a lock has been handed over inside this
 * process.
 */
final class HandOffStreak {

	private final EngineSettings.HandOff settings;

	private final int maxCount;

	private final long maxNanos;

	private int count;

	private int sinceGrant;

	private long startNanos;

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
