package dev.dblock.benchmarks;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Stands inside a section and counts: how many came, and what must not happen, which is
 * two threads at a time, and a token that is not above the one before.
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
