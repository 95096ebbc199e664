package dev.dblock.benchmarks;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Observes a section from the inside. Counts the entries and two violations: two threads
 * in the section at once, and a token that is not greater than the one before.
 */
final class Guard {

	private final AtomicInteger inside = new AtomicInteger();

	private final AtomicLong lastToken = new AtomicLong();

	private final LongAdder sections = new LongAdder();

	private final LongAdder overlaps = new LongAdder();

	private final LongAdder disorders = new LongAdder();

	void enter(long token) {
		if (this.inside.getAndIncrement() != 0) {
			this.overlaps.increment();
		}
		if (token != 0 && this.lastToken.getAndSet(token) >= token) {
			this.disorders.increment();
		}
		this.sections.increment();
	}

	void leave() {
		this.inside.decrementAndGet();
	}

	long sections() {
		return this.sections.sum();
	}

	long overlaps() {
		return this.overlaps.sum();
	}

	long disorders() {
		return this.disorders.sum();
	}

}
