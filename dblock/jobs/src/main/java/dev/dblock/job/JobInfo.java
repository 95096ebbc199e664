package dev.dblock.job;

import java.time.Instant;
import java.util.List;

import dev.dblock.claim.ClaimRecord;
import org.jspecify.annotations.Nullable;

/**
 * A job as seen by one instance of the application. All instants are by the clock of the
 * server.
 *
 * @param id the id of the job
 * @param lock the full name of its lock; {@code null} if only a call determines it, and
 * there was none on this instance yet
 * @param bean the name of its bean
 * @param method its method
 * @param schedules its schedules on this instance
 * @param paused whether an operator paused it
 * @param pausedBy the operator that paused it, if known
 * @param pausedAt when it was paused, if known
 * @param runningOn the instance that holds its lock, for a run or for another purpose;
 * {@code null} if none does
 * @param overdue whether a planned time passed more than a minute ago, and no instance
 * has run it or is about to
 * @param at the time of the server's clock when the job was read
 * @param runs its last runs, the latest first; of a job with shards, each of them begins
 * a planned time
 * @param shards what became of the shards of these planned times, the latest first; empty
 * for a job without shards, and in a list of jobs
 * @param problem why the run record could not be read, so that pauses and runs are
 * unknown; {@code null} if it was read
 */
public record JobInfo(String id, @Nullable String lock, String bean, String method, List<Schedule> schedules,
		boolean paused, @Nullable String pausedBy, @Nullable Instant pausedAt, @Nullable String runningOn,
		boolean overdue, Instant at, List<JobRun> runs, List<JobShards> shards, @Nullable String problem) {

	/**
	 * Return the job with some of its runs.
	 * @param count the maximum number of runs
	 * @return a copy
	 */
	public JobInfo withRuns(int count) {
		return new JobInfo(this.id, this.lock, this.bean, this.method, this.schedules, this.paused, this.pausedBy,
				this.pausedAt, this.runningOn, this.overdue, this.at,
				this.runs.subList(0, Math.min(count, this.runs.size())),
				this.shards.subList(0, Math.min(count, this.shards.size())), this.problem);
	}

	/**
	 * Return the job with what became of its shards.
	 * @param shards the shards of its last planned times, the latest first
	 * @return a copy
	 */
	public JobInfo withShards(List<JobShards> shards) {
		return new JobInfo(this.id, this.lock, this.bean, this.method, this.schedules, this.paused, this.pausedBy,
				this.pausedAt, this.runningOn, this.overdue, this.at, this.runs, shards, this.problem);
	}

	/**
	 * A schedule of a job on one instance.
	 *
	 * @param description the schedule as text, such as {@code cron 0 0 2 * * * in
	 * Europe/Berlin}, {@code fixed rate 5s} or {@code fixed delay 1m}
	 * @param next the next planned time as far as this instance knows it, by the clock of
	 * the server; {@code null} while it depends on a run that has not ended
	 */
	public record Schedule(String description, @Nullable Instant next) {
	}

	/**
	 * The run record of a job. All instants are by the clock of the server.
	 *
	 * @param jobId the id of the job
	 * @param runs the last twenty runs at most, the latest first
	 * @param paused whether an operator paused the job
	 * @param pausedBy the operator that paused it, if known
	 * @param pausedAt when it was last paused, if known; it may have been resumed since
	 * @param resumedAt when it was last resumed; {@code null} if it never was
	 * @param heldBy the instance that holds the lock of the job, for a run or for another
	 * purpose; {@code null} if none does
	 * @param at the time of the server's clock when the record was read
	 */
	public record JobStatus(String jobId, List<JobRun> runs, boolean paused, @Nullable String pausedBy,
			@Nullable Instant pausedAt, @Nullable Instant resumedAt, @Nullable String heldBy,
			Instant at) implements ClaimRecord.Status {
	}

}
