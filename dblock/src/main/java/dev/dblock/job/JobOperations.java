package dev.dblock.job;

import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The jobs of an application, for operators. A job is known by its id, which is the full
 * name of its lock unless {@link JobPolicy @JobPolicy} declares another; the name of the
 * lock as it is declared will do as well.
 * <p>
 * All methods except {@link #runNow} concern the job on all instances. Those for one job
 * throw Spring's {@link org.springframework.dao.DataAccessException} if the server cannot
 * be asked.
 */
public interface JobOperations {

	/**
	 * The ids of all jobs of this application context and its ancestors. Asks no server.
	 * @return the ids
	 */
	Set<String> ids();

	/**
	 * All jobs of this application context and its ancestors, each with its last twenty
	 * runs at most. Asks the server once for each job. Where the run record of a job
	 * cannot be read, {@link JobInfo#problem()} says why.
	 * @return the jobs, by id
	 */
	List<JobInfo> list();

	/**
	 * Look at one job.
	 * @param jobId the id of the job
	 * @return the job with its last twenty runs at most; empty if this application has no
	 * such job
	 */
	Optional<JobInfo> find(String jobId);

	/**
	 * Pause a job on all instances: its planned times are skipped until it is resumed. A
	 * run that has begun continues.
	 * @param jobId the id of the job
	 * @param by who pauses it
	 * @throws IllegalArgumentException if this application has no such job
	 * @throws IllegalStateException if its lock is not known yet, because only a call
	 * determines its name, or locking is switched off
	 */
	void pause(String jobId, String by);

	/**
	 * Resume a job on all instances, from its next planned time.
	 * @param jobId the id of the job
	 * @return whether it was paused
	 * @throws IllegalArgumentException if this application has no such job
	 * @throws IllegalStateException if its lock is not known yet, because only a call
	 * determines its name
	 */
	boolean resume(String jobId);

	/**
	 * Run a job now, on this instance: a call of its method by a thread of its scheduler,
	 * under its lock. No planned time is taken or moved, and the run is not recorded. A
	 * paused job is run as well.
	 * @param jobId the id of the job
	 * @return whether it has started; waits up to five seconds for that
	 * @throws IllegalArgumentException if this application has no such job
	 */
	ManualRun runNow(String jobId);

}
