package dev.dblock.core.queue;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts the causes for which waiters requested the lock from the store again, or found
 * that it was handed over to them.
 */
public final class WaitStatistics {

	private final LongAdder[] counts = new LongAdder[WaitCause.values().length];

	public WaitStatistics() {
		for (int i = 0; i < this.counts.length; i++) {
			this.counts[i] = new LongAdder();
		}
	}

	public void count(WaitCause cause) {
		this.counts[cause.ordinal()].increment();
	}

	public long of(WaitCause cause) {
		return this.counts[cause.ordinal()].sum();
	}

}
