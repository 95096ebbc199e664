package dev.dblock.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import dev.dblock.job.JobStatus;
import org.jspecify.annotations.Nullable;

/**
 * The run records of jobs, by the full names of their locks.
 */
public interface JobRecords {

	/** For engines that record no runs. */
	JobRecords NONE = new JobRecords() {
	};

	/**
	 * Read the run record of a job.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @param limit how long the server may take to answer; {@code null} for the default
	 * @return its record, or empty if none is stored
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails
	 */
	default Optional<JobStatus> find(String fullName, String jobId, @Nullable Duration limit) {
		return Optional.empty();
	}

	/**
	 * Pause a job: its planned times are refused until it is resumed. A run that has
	 * begun continues.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @param by the operator that pauses it
	 * @throws UnsupportedOperationException if this engine records no runs
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails
	 */
	default void pause(String fullName, String jobId, String by) {
		throw new UnsupportedOperationException("This engine cannot pause jobs, because it does not record their runs");
	}

	/**
	 * Resume a job.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @return whether it was paused
	 * @throws org.springframework.dao.DataAccessException if the request to the server
	 * fails
	 */
	default boolean resume(String fullName, String jobId) {
		return false;
	}

	/**
	 * Notify the listeners that a planned time of a job was not run and that this
	 * instance no longer tries it.
	 * @param fullName the full name of its lock
	 * @param jobId the id of the job
	 * @param plannedAt the planned time, by the clock of the server
	 */
	default void missed(String fullName, String jobId, Instant plannedAt) {
	}

}
