package dev.dblock.core;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts events by their kind, since the start of the engine.
 *
 * @param <E> the kinds
 */
final class Counts<E extends Enum<E>> {

	private final LongAdder[] counts;

	Counts(Class<E> type) {
		this.counts = new LongAdder[type.getEnumConstants().length];
		for (int i = 0; i < this.counts.length; i++) {
			this.counts[i] = new LongAdder();
		}
	}

	void count(E kind) {
		this.counts[kind.ordinal()].increment();
	}

	long of(E kind) {
		return this.counts[kind.ordinal()].sum();
	}

}
