package dev.dblock.job.schedule;

import java.time.Duration;

import dev.dblock.job.WhenCrashed;
import dev.dblock.job.WhenMissed;
import org.jspecify.annotations.Nullable;

/**
 * The settings for a single job. They override the declarations on its method.
 *
 * @param whenCrashed what happens to the planned time of a run that crashed; {@code null}
 * if not set
 * @param whenMissed what happens to planned times at which no instance was available;
 * {@code null} if not set
 * @param startWithin how long after its planned time the job can start; {@code null} if
 * not set
 */
public record JobSettings(@Nullable WhenCrashed whenCrashed, @Nullable WhenMissed whenMissed,
		@Nullable Duration startWithin) {

	/** Empty settings. */
	static final JobSettings NONE = new JobSettings(null, null, null);

}
