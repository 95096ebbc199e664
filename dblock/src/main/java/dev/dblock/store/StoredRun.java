package dev.dblock.store;

import java.time.Instant;

import dev.dblock.job.JobRun;
import org.jspecify.annotations.Nullable;

/**
 * A run of a job as it is stored. All times are milliseconds of the store's clock.
 *
 * @param planned the planned time
 * @param attempt the number of the attempt
 * @param firing the id of the firing that was granted
 * @param again how the last run by that firing ended before it was granted the planned
 * time again; {@code null} if this is its first run
 * @param holder the id of the acquisition that was granted
 * @param started the time of the grant
 * @param ended the time of the release, if it was recorded
 * @param outcome how it ended, if that was recorded
 * @param instance the instance
 * @param token the fencing token
 * @param error the failure of the work
 */
public record StoredRun(long planned, int attempt, String firing, JobRun.@Nullable Outcome again, String holder,
		long started, @Nullable Long ended, JobRun.@Nullable Outcome outcome, String instance, long token,
		@Nullable String error) {

	/**
	 * Return the run for applications.
	 * @param jobId the id of the job
	 * @param outcome how it ended, which the store may not have recorded
	 * @return the run
	 */
	public JobRun toRun(String jobId, JobRun.@Nullable Outcome outcome) {
		return new JobRun(jobId, Instant.ofEpochMilli(this.planned), this.attempt, Instant.ofEpochMilli(this.started),
				(this.ended != null) ? Instant.ofEpochMilli(this.ended) : null, outcome, this.instance, this.token,
				this.error);
	}

	/**
	 * Whether the planned time is still open, since the work never began.
	 */
	boolean isOpen() {
		return this.outcome == JobRun.Outcome.ABANDONED && this.again == null;
	}

	StoredRun endedAs(RunEnd end, long now) {
		return new StoredRun(this.planned, this.attempt, this.firing, this.again, this.holder, this.started, now,
				end.outcome(), this.instance, this.token, end.error());
	}

	StoredRun withOutcome(JobRun.Outcome outcome) {
		return new StoredRun(this.planned, this.attempt, this.firing, this.again, this.holder, this.started, this.ended,
				outcome, this.instance, this.token, this.error);
	}

}
