package dev.dblock.test.check;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Counts what several threads, or two processes, saw under locks.
 */
final class Tally {

	/** What is counted. */
	enum Count {

		/** A lock was granted. */
		GRANTED,

		/** Another holder was found at work under the same lock. */
		OVERLAPPED,

		/** The fencing token was not higher than the last one. */
		LOWER,

		/** The lease was lost while the work ran. */
		LOST,

		/** A planned time ran again. */
		AGAIN,

		/** A request failed. */
		FAILED

	}

	private static final String SEPARATOR = "\t";

	private final AtomicIntegerArray counts = new AtomicIntegerArray(Count.values().length);

	private volatile String failure = "";

	void add(Count count) {
		this.counts.incrementAndGet(count.ordinal());
	}

	void failed(RuntimeException failure) {
		add(Count.FAILED);
		// Its first sentence
		this.failure = String.valueOf(failure.getMessage()).replaceAll("\\s+", " ").split("\\. ", 2)[0];
	}

	int get(Count count) {
		return this.counts.get(count.ordinal());
	}

	/** The last failure, in one line; empty if there was none. */
	String failure() {
		return this.failure;
	}

	/** Add what another process has counted. */
	Tally plus(Tally other) {
		for (Count count : Count.values()) {
			this.counts.addAndGet(count.ordinal(), other.get(count));
		}
		this.failure = this.failure.isEmpty() ? other.failure : this.failure;
		return this;
	}

	/** Return these counts as one line. */
	String toLine() {
		StringBuilder line = new StringBuilder();
		for (Count count : Count.values()) {
			line.append(get(count)).append(SEPARATOR);
		}
		return line.append(this.failure).append('.').toString();
	}

	static Tally fromLine(String line) {
		String[] parts = line.split(SEPARATOR, Count.values().length + 1);
		Tally tally = new Tally();
		for (Count count : Count.values()) {
			tally.counts.set(count.ordinal(), Integer.parseInt(parts[count.ordinal()]));
		}
		String failure = parts[Count.values().length];
		tally.failure = failure.substring(0, failure.length() - 1);
		return tally;
	}

}
