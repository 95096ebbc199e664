package dev.dblock.job.schedule;

import java.time.Duration;

import dev.dblock.job.WhenCrashed;
import dev.dblock.job.WhenMissed;
import org.jspecify.annotations.Nullable;

/**
 * What is set for a single job. It overrides what is declared on its method.
 *
 * @param whenCrashed what happens to the planned time of a run that crashed; {@code null}
 * if that is not set
 * @param whenMissed what happens to planned times at which no instance was there;
 * {@code null} if that is not set
 * @param startWithin how long after its planned time the job can start; {@code null} if
 * that is not set
 */
public record JobSettings(@Nullable WhenCrashed whenCrashed, @Nullable WhenMissed whenMissed,
		@Nullable Duration startWithin) {

	/** Nothing is set. */
	static final JobSettings NONE = new JobSettings(null, null, null);

}
