package dev.dblock.faults;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Times of the primary's answers to a client that queries it continuously. A long
 * silence, or the election of another primary, is logged as a window of its own. It also
 * has causes other than injected faults, such as a disk that stalls for a while. During a
 * fault of the servers, it is part of that fault.
 */
final class PrimaryAnswers {

	static final Duration LONGEST_SILENCE = Duration.ofSeconds(1);

	private final FaultLog log;

	private @Nullable Object term;

	private long readNanos;

	private long writtenNanos;

	PrimaryAnswers(FaultLog log) {
		this.log = log;
	}

	/**
	 * Record a read.
	 * @param nanos the time of the answer
	 * @param term the term of the primary, if it is known
	 */
	synchronized void read(long nanos, @Nullable Object term) {
		if (this.term != null && term != null && !this.term.equals(term)) {
			this.log.addSeen(Window.ELECTED, this.readNanos, nanos);
		}
		this.term = (term != null) ? term : this.term;
		this.readNanos = heard("primary not readable", this.readNanos, nanos);
	}

	/**
	 * Record a write that the majority has confirmed.
	 * @param nanos the time of the answer
	 */
	synchronized void written(long nanos) {
		this.writtenNanos = heard("primary not writable", this.writtenNanos, nanos);
	}

	private long heard(String kind, long lastNanos, long nanos) {
		if (lastNanos != 0 && nanos - lastNanos > LONGEST_SILENCE.toNanos()) {
			this.log.addSeen(kind, lastNanos, nanos);
		}
		return Math.max(lastNanos, nanos);
	}

}
