package dev.dblock.job.schedule;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * The earliest planned time of a task for which there is no answer yet. Its monitor is
 * never held during calls of other code.
 */
final class OpenTime {

	private @Nullable Instant since;

	private @Nullable Instant last;

	synchronized void planned(Instant at) {
		this.last = at;
		plannedAgain(at);
	}

	/**
	 * Record a planned time that was refused as not due and will be fired again, after
	 * the next one was planned.
	 */
	synchronized void plannedAgain(Instant at) {
		if (this.since == null || at.isBefore(this.since)) {
			this.since = at;
		}
	}

	/**
	 * Record that all planned times up to this one were run, or are skipped.
	 */
	synchronized void answered(Instant at) {
		if (this.since != null && !this.since.isAfter(at)) {
			this.since = (this.last != null && this.last.isAfter(at)) ? this.last : null;
		}
	}

	synchronized @Nullable Instant since() {
		return this.since;
	}

}
