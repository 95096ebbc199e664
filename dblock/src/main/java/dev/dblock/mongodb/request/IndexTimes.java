package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Determines when an index that removes old documents is ensured: at first use, every ten
 * minutes, soon after its collection may have been dropped, and a minute after a failure.
 */
public final class IndexTimes {

	private static final long USUAL_PAUSE = Duration.ofMinutes(10).toNanos();

	/** Limits the requests when many documents are created at once. */
	private static final long SHORTEST_PAUSE = Duration.ofMillis(100).toNanos();

	private static final long PAUSE_AFTER_FAILURE = Duration.ofMinutes(1).toNanos();

	private final LongSupplier nanoTime;

	private volatile long next;

	private volatile long earliest;

	public IndexTimes(LongSupplier nanoTime) {
		this.nanoTime = nanoTime;
		this.earliest = nanoTime.getAsLong();
		this.next = this.earliest;
	}

	public boolean isDue() {
		return this.nanoTime.getAsLong() - this.next >= 0;
	}

	/**
	 * Claim the due creation for one of several threads. The others do not wait for it.
	 * @return whether the calling thread has claimed it
	 */
	public synchronized boolean claim() {
		boolean due = isDue();
		if (due) {
			begin();
		}
		return due;
	}

	/**
	 * Record that the index is being ensured, due or not.
	 */
	public void begin() {
		pause(SHORTEST_PAUSE, USUAL_PAUSE);
	}

	public void failed() {
		pause(PAUSE_AFTER_FAILURE, PAUSE_AFTER_FAILURE);
	}

	private synchronized void pause(long shortest, long usual) {
		long now = this.nanoTime.getAsLong();
		this.earliest = now + shortest;
		this.next = now + usual;
	}

	/**
	 * Ensure the index soon, since the collection may have been replaced.
	 */
	public synchronized void suspectDrop() {
		this.next = this.earliest;
	}

}
