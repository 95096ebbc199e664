package dev.dblock.mongodb;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Determines when an index that removes old documents is ensured: at first use, every ten
 * minutes, and a minute after a failure.
 */
final class IndexTimes {

	private static final long PAUSE = Duration.ofMinutes(10).toNanos();

	private static final long PAUSE_AFTER_FAILURE = Duration.ofMinutes(1).toNanos();

	private final LongSupplier nanoTime;

	private final AtomicLong next;

	IndexTimes(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.next = new AtomicLong(nanoTime.getAsLong());
	}

	boolean isDue() {
		return this.nanoTime.getAsLong() - this.next.get() >= 0;
	}

	/**
	 * Claim the due creation for one of several threads. The others do not wait for it.
	 * @return whether the calling thread has claimed it
	 */
	boolean claim() {
		long due = this.next.get();
		long now = this.nanoTime.getAsLong();
		return now - due >= 0 && this.next.compareAndSet(due, now + PAUSE);
	}

	/**
	 * Record that the index is being ensured, due or not.
	 */
	void begin() {
		this.next.set(this.nanoTime.getAsLong() + PAUSE);
	}

	void failed() {
		this.next.set(this.nanoTime.getAsLong() + PAUSE_AFTER_FAILURE);
	}

}
