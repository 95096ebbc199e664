package dev.dblock.core;

import dev.dblock.settings.EngineSettings;

/**
 * Measures how long a lock has been handed over inside this process.
 */
final class HandOffStreak {

	private final int maxCount;

	private final long maxNanos;

	private int count;

	private long startNanos;

	HandOffStreak(EngineSettings.HandOff settings, long nanos) {
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

	void handedOver() {
		this.count++;
	}

}
