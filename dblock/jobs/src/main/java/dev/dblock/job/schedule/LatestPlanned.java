package dev.dblock.job.schedule;

import java.time.Instant;

import dev.dblock.job.trigger.JobTrigger;
import org.jspecify.annotations.Nullable;

/**
 * The latest planned time of a job that was fired on this instance, even if it was fired
 * by a wrong clock. All schedules of the job share it.
 */
final class LatestPlanned {

	private @Nullable Instant fired;

	// A firing can also be for a time before the latest, which a full scheduler rejected
	synchronized void fired(Instant planned, Instant now) {
		if (this.fired == null || isAhead(this.fired, now) || planned.isAfter(this.fired)) {
			this.fired = planned;
		}
	}

	/**
	 * Return the latest planned time that was fired and is due. A time that was fired
	 * before it was due overtakes no other.
	 * @param now the time of the server's clock
	 */
	synchronized @Nullable Instant at(Instant now) {
		return (this.fired == null || isAhead(this.fired, now)) ? null : this.fired;
	}

	private static boolean isAhead(Instant planned, Instant now) {
		return planned.isAfter(now.plus(JobTrigger.AHEAD));
	}

}
