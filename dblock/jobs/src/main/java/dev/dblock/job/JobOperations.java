package dev.dblock.job;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Operations on the jobs of an application, for operators. A job is identified by its id,
 * which is the full name of its lock unless {@link JobPolicy @JobPolicy} declares
 * another. The declared name of the lock is accepted as well.
 * <p>
 * All methods except {@link #runNow} concern the job on all instances. The methods for
 * one job throw Spring's {@link org.springframework.dao.DataAccessException} if the
 * request to the server fails.
 */
public interface JobOperations {

	/**
	 * Return the ids of all jobs of this application context and its ancestors. Sends no
	 * request to the server.
	 * @return the ids
	 */
	Set<String> ids();

	/**
	 * Return all jobs of this application context and its ancestors, each with its last
	 * twenty runs at most. Sends one request to the server for each job. If the run
	 * record of a job cannot be read, {@link JobInfo#problem()} has the reason.
	 * @return the jobs, by id
	 */
	List<JobInfo> list();

	/**
	 * Return one job.
	 * @param jobId the id of the job
	 * @return the job with its last twenty runs at most; empty if this application has no
	 * such job
	 */
	Optional<JobInfo> find(String jobId);

	/**
	 * Pause a job on all instances: its planned times are skipped until it is resumed. A
	 * run that has already started continues.
	 * @param jobId the id of the job
	 * @param by the operator that pauses it
	 * @throws IllegalArgumentException if this application has no such job, or it is a
	 * shard of one
	 * @throws IllegalStateException if its lock is not known yet, because only a call
	 * determines its name, or if locking is disabled
	 */
	void pause(String jobId, String by);

	/**
	 * Resume a job on all instances, from its next planned time.
	 * @param jobId the id of the job
	 * @return whether it was paused
	 * @throws IllegalArgumentException if this application has no such job, or it is a
	 * shard of one
	 * @throws IllegalStateException if its lock is not known yet, because only a call
	 * determines its name
	 */
	boolean resume(String jobId);

	/**
	 * Run a job now, on this instance: call its method in a thread of its scheduler,
	 * under its lock. No planned time is used up or moved, and the run is not recorded. A
	 * paused job is run as well.
	 * @param jobId the id of the job
	 * @return whether it has started; waits up to five seconds for that
	 * @throws IllegalArgumentException if this application has no such job, or it is a
	 * shard of one
	 */
	ManualRun runNow(String jobId);

	/**
	 * The result of an attempt to run a job now.
	 *
	 * @param outcome whether it has started
	 * @param description the reason, or what happens next, as a sentence without its full
	 * stop
	 */
	record ManualRun(Outcome outcome, String description) {

		/**
		 * Whether a job has started.
		 */
		public enum Outcome {

			/**
			 * It has acquired its lock and is running, or has ended.
			 */
			STARTED,

			/**
			 * It does not run, since its lock is held or no thread is free.
			 */
			REFUSED,

			/**
			 * It waits for its lock, or its work has not requested the lock yet. It
			 * starts if it acquires the lock.
			 */
			WAITING,

			/**
			 * It could not request its lock; the log has the reason.
			 */
			FAILED

		}

	}

}
