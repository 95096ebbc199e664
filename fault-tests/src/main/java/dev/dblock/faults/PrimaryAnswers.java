package dev.dblock.faults;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * When the primary has answered to those who ask it all the time. Where it was silent for
 * long, or another was elected, that is a window of its own: it also comes of what nobody
 * did on purpose, such as a disk that stands still for a while. Of a fault of the servers
 * it is a part.
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
	 * Something was read.
	 * @param nanos when the answer was there
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
	 * Something was written, and confirmed by the majority.
	 * @param nanos when the answer was there
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
