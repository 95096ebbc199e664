package dev.dblock.job.schedule;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobStatus;
import org.jspecify.annotations.Nullable;

/**
 * The declaration of a job, by annotations and by properties for its name.
 *
 * @param id the declared id; {@code null} for the full name of the lock
 * @param lock the full name of the lock; {@code null} if only a call determines it
 * @param template the name of the lock as it is declared
 * @param engine the engine of the lock
 * @param rerun whether a crashed run is repeated
 * @param runMissed whether the latest planned time at which no instance was available is
 * run
 * @param startWithin how long after its planned time the job can start
 * @param waitUpTo how long a call waits for the lock at most; {@code null} if only the
 * defaults of all locks apply
 * @param minHold the minimum hold of the lock; {@code null} if only the defaults of all
 * locks apply
 * @param obstacle why the method cannot run once per planned time, and how to fix that;
 * {@code null} if it can
 * @param zones the time zone of each cron expression that is declared with one
 */
public record JobDeclaration(@Nullable String id, @Nullable String lock, String template, LockEngine engine,
		boolean rerun, boolean runMissed, Duration startWithin, @Nullable Duration waitUpTo, @Nullable Duration minHold,
		@Nullable String obstacle, Map<String, String> zones) {

	/**
	 * Return the id or the full name of the lock; {@code null} if only a call determines
	 * that name.
	 */
	@Nullable String storedId() {
		return (this.id != null) ? this.id : this.lock;
	}

	/**
	 * Read the run record of the job.
	 * @param limit how long the server may take to answer
	 * @return the record; empty if there is none, or if only a call determines the lock
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails
	 */
	Optional<JobStatus> status(Duration limit) {
		return (this.lock != null) ? this.engine.jobs().find(this.lock, (this.id != null) ? this.id : this.lock, limit)
				: Optional.empty();
	}

}
