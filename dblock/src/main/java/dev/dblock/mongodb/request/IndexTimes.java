package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * When an index that removes old documents is looked after: at first, every ten minutes,
 * and soon after its collection may have been dropped; a minute after it failed.
 */
public final class IndexTimes {

	private static final long USUAL_PAUSE = Duration.ofMinutes(10).toNanos();

	/** Many new names at once are no reason to ask each time. */
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
	 * Have one thread of those that find it due at once look after it; the others do not
	 * wait for it.
	 * @return whether it is the caller
	 */
	public synchronized boolean claim() {
		boolean due = isDue();
		if (due) {
			begin();
		}
		return due;
	}

	/**
	 * It is being looked after, due or not.
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
	 * The collection may be another than it was: look after the index soon.
	 */
	public synchronized void suspectDrop() {
		this.next = this.earliest;
	}

}
