package dev.dblock.job.trigger;

import java.time.Clock;
import java.time.Instant;

import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.Trigger;

/**
 * Plans the firings of a job in the server's time.
 */
public interface PlannedTrigger extends Trigger {

	/**
	 * Return the next planned time, as far as it is known.
	 * @param own the scheduler's clock
	 * @return the planned time, by the server's clock
	 */
	@Nullable Instant next(Clock own);

	/**
	 * Return the planned time of the last firing that was planned.
	 */
	@Nullable Instant planned();

}
