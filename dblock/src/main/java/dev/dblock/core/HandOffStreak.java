package dev.dblock.core;

import dev.dblock.settings.HandOffSettings;

/**
 * How long a lock has gone round inside this process.
 */
final class HandOffStreak {

	private final int maxCount;

	private final long maxNanos;

	private int count;

	private long startNanos;

	HandOffStreak(HandOffSettings settings, long nanos) {
		this.maxCount = settings.maxCount();
		this.maxNanos = settings.maxTime().toNanos();
		this.startNanos = nanos;
	}

	void start(long nanos) {
		this.count = 0;
		this.startNanos = nanos;
	}

	boolean mayGoOn(long nanos) {
		return this.count < this.maxCount && nanos - this.startNanos < this.maxNanos;
	}

	/**
	 * Whether others should go first now. Where nothing is ever handed over, nobody is
	 * favoured who would have to make room.
	 */
	boolean isOver(long nanos) {
		return this.maxCount > 0 && this.maxNanos > 0 && !mayGoOn(nanos);
	}

	void handedOver() {
		this.count++;
	}

}
