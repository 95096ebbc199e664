package dev.dblock.store;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobRun;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;

/**
 * The run record of a job as it is stored under the name of its lock.
 *
 * @param last the last run
 * @param runs the runs before it, the oldest first
 * @param paused whether the job is paused
 * @param pausedBy the operator that paused it
 * @param pausedAt when it was paused, in milliseconds of the store's clock
 * @param resumedAt when it was last resumed, in milliseconds of the store's clock
 */
public record StoredJob(@Nullable StoredRun last, List<StoredRun> runs, boolean paused, @Nullable String pausedBy,
		@Nullable Long pausedAt, @Nullable Long resumedAt) {

	/** How many runs are kept before the last one. */
	public static final int RUNS_BEFORE = 19;

	/** The record of a job without runs that is not paused. */
	public static final StoredJob EMPTY = new StoredJob(null, List.of(), false, null, null, null);

	/**
	 * Return the record after a grant.
	 * @param decision the decision
	 * @param request the request that was granted
	 * @param token its fencing token
	 * @param now the time of the grant, in milliseconds of the store's clock
	 * @return the record with a new last run
	 */
	public StoredJob granted(JobDecision decision, AcquireRequest request, long token, long now) {
		List<StoredRun> before = new ArrayList<>(this.runs);
		StoredRun ended = decision.moved();
		if (ended != null) {
			before.add(ended);
		}
		StoredRun next = new StoredRun(decision.planned(), decision.attempt(), request.requireFiring().id(),
				decision.again(), request.key().holder(), now, null, null, request.acquirer(), token, null,
				decision.afterCrash());
		return new StoredJob(next, List.copyOf(before.subList(Math.max(0, before.size() - RUNS_BEFORE), before.size())),
				this.paused, this.pausedBy, this.pausedAt, this.resumedAt);
	}

	/**
	 * Return the run that crashed before the last grant, and that no instance is known to
	 * have reported.
	 * @param jobId the id of the job
	 * @return the run; {@code null} if there is none
	 */
	public @Nullable JobRun crashed(String jobId) {
		if (this.last == null || !this.last.afterCrash() || this.runs.isEmpty()) {
			return null;
		}
		StoredRun before = this.runs.get(this.runs.size() - 1);
		return (before.outcome() == JobRun.Outcome.CRASHED) ? before.toRun(jobId, before.outcome()) : null;
	}

	/**
	 * Return the record after a release.
	 * @param holder the id of the acquisition that is released
	 * @param end how its run ended
	 * @param now the time of the release, in milliseconds of the store's clock
	 * @return the record, unchanged if the last run is another one
	 */
	public StoredJob ended(String holder, RunEnd end, long now) {
		return (this.last != null && this.last.holder().equals(holder)) ? new StoredJob(this.last.endedAs(end, now),
				this.runs, this.paused, this.pausedBy, this.pausedAt, this.resumedAt) : this;
	}

	/**
	 * Return the record of a job that is paused.
	 * @param by the operator that pauses it
	 * @param now the current time, in milliseconds of the store's clock
	 * @return the record
	 */
	public StoredJob pausedBy(String by, long now) {
		return new StoredJob(this.last, this.runs, true, by, now, this.resumedAt);
	}

	/**
	 * Return the record of a job that is resumed.
	 * @param now the current time, in milliseconds of the store's clock
	 * @return the record
	 */
	public StoredJob resumed(long now) {
		return new StoredJob(this.last, this.runs, false, null, null, now);
	}

	/**
	 * Return the record for applications.
	 * @param jobId the id of the job
	 * @param lock the lock that it is stored with
	 * @param heldBy the instance that holds that lock
	 * @param now the current time, in milliseconds of the store's clock
	 * @return the record
	 */
	public JobStatus toStatus(String jobId, JobDecision.LockState lock, @Nullable String heldBy, long now) {
		List<JobRun> latestFirst = new ArrayList<>();
		if (this.last != null) {
			latestFirst.add(this.last.toRun(jobId, lock.outcomeOf(this.last)));
		}
		for (int i = this.runs.size() - 1; i >= 0; i--) {
			latestFirst.add(this.runs.get(i).toRun(jobId, this.runs.get(i).outcome()));
		}
		return new JobStatus(jobId, List.copyOf(latestFirst), this.paused, this.pausedBy, instant(this.pausedAt),
				instant(this.resumedAt), heldBy, Instant.ofEpochMilli(now));
	}

	private static @Nullable Instant instant(@Nullable Long millis) {
		return (millis != null) ? Instant.ofEpochMilli(millis) : null;
	}

	/**
	 * A run of a job as it is stored. All times are milliseconds of the store's clock.
	 *
	 * @param planned the planned time
	 * @param attempt the number of the attempt
	 * @param firing the id of the firing that was granted
	 * @param again how the last run by that firing ended before it was granted the
	 * planned time again; {@code null} if this is its first run
	 * @param holder the id of the acquisition that was granted
	 * @param started the time of the grant
	 * @param ended the time of the release, if it was recorded
	 * @param outcome how it ended, if that was recorded
	 * @param instance the instance
	 * @param token the fencing token
	 * @param error the failure of the work
	 * @param afterCrash whether the run before it crashed and was not reported when it
	 * was granted
	 */
	public record StoredRun(long planned, int attempt, String firing, JobRun.@Nullable Outcome again, String holder,
			long started, @Nullable Long ended, JobRun.@Nullable Outcome outcome, String instance, long token,
			@Nullable String error, boolean afterCrash) {

		/**
		 * Return the run for applications.
		 * @param jobId the id of the job
		 * @param outcome how it ended, which the store may not have recorded
		 * @return the run
		 */
		public JobRun toRun(String jobId, JobRun.@Nullable Outcome outcome) {
			return new JobRun(jobId, Instant.ofEpochMilli(this.planned), this.attempt,
					Instant.ofEpochMilli(this.started), (this.ended != null) ? Instant.ofEpochMilli(this.ended) : null,
					outcome, this.instance, this.token, this.error);
		}

		/**
		 * Whether the planned time is still open, since the work never began.
		 */
		boolean isOpen() {
			return this.outcome == JobRun.Outcome.ABANDONED && this.again == null;
		}

		/**
		 * Whether the next grant still has to report the crash before this one. The
		 * answer to this grant was lost if its work never began, or has no recorded end.
		 */
		boolean hasUnreportedCrash() {
			return this.afterCrash && this.error == null
					&& (this.outcome == null || this.outcome == JobRun.Outcome.ABANDONED);
		}

		StoredRun endedAs(RunEnd end, long now) {
			return new StoredRun(this.planned, this.attempt, this.firing, this.again, this.holder, this.started, now,
					end.outcome(), this.instance, this.token, end.error(), this.afterCrash);
		}

		StoredRun withOutcome(JobRun.Outcome outcome) {
			return new StoredRun(this.planned, this.attempt, this.firing, this.again, this.holder, this.started,
					this.ended, outcome, this.instance, this.token, this.error, this.afterCrash);
		}

	}

	/**
	 * The end of a run of a job, as a release records it.
	 *
	 * @param jobId the id of the job
	 * @param outcome how the run ended
	 * @param error the failure of the run
	 */
	public record RunEnd(String jobId, JobRun.Outcome outcome, @Nullable String error) {

		private static final int LONGEST_ERROR = 300;

		/**
		 * Return the end of a run whose lock an operator released. It counts as failed,
		 * since the operator did not want it to be repeated.
		 * @param jobId the id of the job
		 * @return the end
		 */
		public static RunEnd forced(String jobId) {
			return new RunEnd(jobId, JobRun.Outcome.FAILED, "The lock was released by force");
		}

		/**
		 * Return the text that is recorded for an error: its first 300 characters, with
		 * each control character replaced by a space.
		 * @param cause the error
		 * @return the text
		 */
		public static String textOf(Throwable cause) {
			Throwable inner = cause.getCause();
			boolean wrapped = cause instanceof CompletionException || cause instanceof ExecutionException;
			return FailureLog.textOf((wrapped && inner != null) ? inner : cause, LONGEST_ERROR);
		}

	}

}
