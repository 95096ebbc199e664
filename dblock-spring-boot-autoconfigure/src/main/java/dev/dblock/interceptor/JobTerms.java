package dev.dblock.interceptor;

import dev.dblock.LockOptions;
import dev.dblock.job.JobFiring;
import dev.dblock.job.schedule.JobDeclaration;
import dev.dblock.job.schedule.ScheduledCall;
import org.jspecify.annotations.Nullable;

/**
 * What a locked method is when a scheduler calls it.
 *
 * @param id the id that is declared for it; {@code null} for the full name of its lock
 * @param rerun whether a crashed run is repeated
 * @param skippedByDefault whether a call without the lock is skipped although nothing is
 * declared about it
 * @param declaration what is checked when the application starts
 */
record JobTerms(@Nullable String id, boolean rerun, boolean skippedByDefault, JobDeclaration declaration) {

	/**
	 * The options with the firing that the scheduler's call is.
	 */
	LockOptions firing(LockOptions options, ScheduledCall call) {
		JobFiring firing = call.firing(this.id, this.rerun);
		return (firing != null) ? options.firing(firing) : options;
	}

}
