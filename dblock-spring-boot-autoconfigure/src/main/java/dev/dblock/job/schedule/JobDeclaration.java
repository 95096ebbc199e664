package dev.dblock.job.schedule;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

import dev.dblock.job.JobStatus;
import org.jspecify.annotations.Nullable;

/**
 * What is declared for a job, by annotations and by properties for its name.
 *
 * @param id the id that is declared; {@code null} for the full name of the lock
 * @param storedId the id or the full name of the lock; {@code null} if only a call
 * determines that name
 * @param rerun whether a crashed run is repeated
 * @param runMissed whether the latest planned time is run at which no instance was there
 * @param startWithin how long after its planned time the job can start
 * @param status reads the run record of the job; {@code null} if only a call determines
 * the name of its lock
 * @param waitUpTo how long a call waits for the lock at most; {@code null} if only the
 * defaults of all locks say so
 * @param minHold the minimum hold of the lock; {@code null} if only the defaults of all
 * locks say so
 * @param obstacle why the method cannot run once per planned time, and what to do;
 * {@code null} if it can
 */
public record JobDeclaration(@Nullable String id, @Nullable String storedId, boolean rerun, boolean runMissed,
		Duration startWithin, @Nullable Supplier<Optional<JobStatus>> status, @Nullable Duration waitUpTo,
		@Nullable Duration minHold, @Nullable String obstacle) {
}
