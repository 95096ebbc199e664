package dev.dblock.job.schedule;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;

import dev.dblock.LockEngine;
import dev.dblock.job.JobStatus;
import org.jspecify.annotations.Nullable;

/**
 * What is declared for a job, by annotations and by properties for its name.
 *
 * @param id the id that is declared; {@code null} for the full name of the lock
 * @param lock the full name of the lock; {@code null} if only a call determines it
 * @param template the name of the lock as it is declared
 * @param engine what has the lock
 * @param rerun whether a crashed run is repeated
 * @param runMissed whether the latest planned time is run at which no instance was there
 * @param startWithin how long after its planned time the job can start
 * @param waitUpTo how long a call waits for the lock at most; {@code null} if only the
 * defaults of all locks say so
 * @param minHold the minimum hold of the lock; {@code null} if only the defaults of all
 * locks say so
 * @param obstacle why the method cannot run once per planned time, and what to do;
 * {@code null} if it can
 * @param zones the time zone of each cron expression that is declared with one
 */
public record JobDeclaration(@Nullable String id, @Nullable String lock, String template, LockEngine engine,
		boolean rerun, boolean runMissed, Duration startWithin, @Nullable Duration waitUpTo, @Nullable Duration minHold,
		@Nullable String obstacle, Map<String, String> zones) {

	/**
	 * The id or the full name of the lock; {@code null} if only a call determines that
	 * name.
	 */
	@Nullable String storedId() {
		return (this.id != null) ? this.id : this.lock;
	}

	/**
	 * Read the run record of the job.
	 * @param limit how long the server may take to answer
	 * @return the record; empty if there is none, or if only a call determines the lock
	 * @throws org.springframework.dao.DataAccessException when the server cannot be asked
	 */
	Optional<JobStatus> status(Duration limit) {
		return (this.lock != null) ? this.engine.findJob(this.lock, (this.id != null) ? this.id : this.lock, limit)
				: Optional.empty();
	}

}
