package dev.dblock.job;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;

/**
 * The run record of a job as it is stored under the name of its lock.
 *
 * @param last the last run
 * @param runs the runs before it, the oldest first
 * @param paused whether the job is paused
 * @param pausedBy the operator that paused it
 * @param pausedAt when it was last paused, in milliseconds of the store's clock
 * @param resumedAt when it was last resumed, in milliseconds of the store's clock
 */
public record StoredJob(@Nullable StoredRun last, List<StoredRun> runs, boolean paused, @Nullable String pausedBy,
		@Nullable Long pausedAt, @Nullable Long resumedAt) implements ClaimRecord {

	/** How many runs are kept before the last one. */
	public static final int RUNS_BEFORE = 19;

	/** The record of a job without runs that is not paused. */
	public static final StoredJob EMPTY = new StoredJob(null, List.of(), false, null, null, null);

	/**
	 * Return the key of a job's record.
	 * @param jobId the id of the job
	 * @return the key
	 */
	public static Claim.Key key(String jobId) {
		return key(jobId, null);
	}

	/**
	 * Return the key of a job's record.
	 * @param jobId the id of the job
	 * @param method the method of the job; {@code null} if other ids do not matter
	 * @return the key
	 */
	static Claim.Key key(String jobId, @Nullable String method) {
		return new Claim.Key(jobId, EMPTY, method);
	}

	@Override
	public JobDecision decide(Request request, LockState lock, long now) {
		return JobDecision.of(request, this, lock, null, now);
	}

	@Override
	public StoredJob granted(Decision granted, Request request, long token, long now) {
		JobDecision decision = (JobDecision) granted;
		StoredRun next = new StoredRun(decision.planned(), decision.attempt(), ((JobFiring) request.claim()).id(),
				decision.again(), request.holder(), now, null, null, request.acquirer(), token, null,
				decision.afterCrash(), decision.after(), ((JobFiring) request.claim()).plan(),
				shards(decision.planned(), (JobFiring) request.claim()));
		return with(next, decision.moved());
	}

	/**
	 * Return how many shards a planned time has. If it is granted again, it keeps their
	 * number, also if another version of the application has another one.
	 * @param planned the planned time, in milliseconds of the store's clock
	 * @param firing the firing that is granted
	 * @return the number; 0 if the firing is for a job without shards
	 */
	public int shards(long planned, JobFiring firing) {
		int stored = (this.last != null && this.last.planned() == planned) ? this.last.shards() : 0;
		return (stored > 0 && firing.shards() > 0) ? stored : firing.shards();
	}

	private StoredJob with(StoredRun last, @Nullable StoredRun moved) {
		List<StoredRun> before = new ArrayList<>(this.runs);
		if (moved != null) {
			before.add(moved);
		}
		return new StoredJob(last, List.copyOf(before.subList(Math.max(0, before.size() - RUNS_BEFORE), before.size())),
				this.paused, this.pausedBy, this.pausedAt, this.resumedAt);
	}

	@Override
	public @Nullable StoredJob expired(Request request, LockState lock, long now) {
		JobFiring firing = (JobFiring) request.claim();
		if (hasExpired(firing)) {
			return this;
		}
		JobDecision decision = JobDecision.of(request, this, lock, null, now);
		if (!decision.isTooLate()) {
			return null;
		}
		StoredRun missed = new StoredRun(decision.planned(), 0, firing.id(), null, request.holder(), now, now,
				JobRun.Outcome.MISSED, request.acquirer(), 0, null, decision.afterCrash(), decision.after(),
				firing.plan(), shards(decision.planned(), firing));
		return with(missed, decision.moved());
	}

	/**
	 * Whether a firing has recorded its planned time as missed.
	 * @param firing the firing
	 * @return whether it has
	 */
	public boolean hasExpired(JobFiring firing) {
		return Stream.concat(Stream.ofNullable(this.last), this.runs.stream())
			.anyMatch((run) -> run.outcome() == JobRun.Outcome.MISSED && run.firing().equals(firing.id()));
	}

	@Override
	public @Nullable GrantedRun claimed(String id) {
		return (this.last != null) ? new GrantedRun(this.last.toRun(id, null), crashed(id)) : null;
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

	@Override
	public StoredJob ended(String holder, Claim.@Nullable End end, long now) {
		if (this.last == null || !this.last.holder().equals(holder)) {
			return this;
		}
		return new StoredJob(this.last.endedAs((end != null) ? (RunEnd) end : RunEnd.FORCED, now), this.runs,
				this.paused, this.pausedBy, this.pausedAt, this.resumedAt);
	}

	@Override
	public StoredJob pausedBy(String by, long now) {
		return new StoredJob(this.last, this.runs, true, by, now, this.resumedAt);
	}

	@Override
	public StoredJob resumed(long now) {
		return new StoredJob(this.last, this.runs, false, null, this.pausedAt, now);
	}

	@Override
	public JobStatus toStatus(String jobId, LockState lock, @Nullable String heldBy, long now) {
		List<JobRun> latestFirst = new ArrayList<>();
		if (this.last != null) {
			latestFirst.add(this.last.toRun(jobId, this.last.outcome(lock)));
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
	 * @param after the planned time that was settled before this one
	 * @param plan the schedules of the job on that instance
	 * @param shards how many shards the planned time has; 0 for none
	 */
	public record StoredRun(long planned, int attempt, String firing, JobRun.@Nullable Outcome again, String holder,
			long started, @Nullable Long ended, JobRun.@Nullable Outcome outcome, String instance, long token,
			@Nullable String error, boolean afterCrash, @Nullable Long after, @Nullable String plan, int shards) {

		/**
		 * Return the run for applications.
		 * @param jobId the id of the job
		 * @param outcome how it ended, which the store may not have recorded
		 * @return the run
		 */
		public JobRun toRun(String jobId, JobRun.@Nullable Outcome outcome) {
			return new JobRun(jobId, Instant.ofEpochMilli(this.planned), this.attempt,
					Instant.ofEpochMilli(this.started), (this.ended != null) ? Instant.ofEpochMilli(this.ended) : null,
					outcome, this.instance, this.token, this.error, instant(this.after), this.plan, this.shards);
		}

		/**
		 * Whether the planned time is still open, since the work never began.
		 */
		boolean isOpen() {
			return this.outcome == JobRun.Outcome.ABANDONED && this.again == null;
		}

		/**
		 * Whether the planned time was neither run nor missed. A repetition that never
		 * began is of a run that crashed.
		 */
		boolean isUnsettled() {
			return isOpen() && this.attempt == 1;
		}

		/**
		 * Whether the work is known to have begun, in this run or in one before it by the
		 * same firing.
		 */
		boolean hasBegun() {
			return this.again != null || (this.outcome != null && this.outcome != JobRun.Outcome.ABANDONED);
		}

		/**
		 * Return when it could be known that the run crashed: at the end of its lease.
		 * That is not known any more once the lock was acquired for something else.
		 */
		long crashKnownAt(LockState lock) {
			if (this.holder.equals(lock.holder())) {
				return lock.expiresAt();
			}
			return (this.ended != null) ? this.ended : lock.acquiredAt();
		}

		/**
		 * Whether the next grant still has to report the crash before this one. The
		 * answer to this grant was lost if its work never began, or has no recorded end.
		 */
		boolean hasUnreportedCrash() {
			return this.afterCrash && this.error == null
					&& (this.outcome == null || this.outcome == JobRun.Outcome.ABANDONED);
		}

		boolean isHeld(LockState lock) {
			return lock.taken() && this.outcome == null && this.holder.equals(lock.holder());
		}

		/**
		 * Return how the run ended, if that is known.
		 * @param lock the lock that it is stored with
		 * @return the outcome; {@code null} while it runs
		 */
		JobRun.@Nullable Outcome outcome(LockState lock) {
			if (this.outcome != null || isHeld(lock)) {
				return this.outcome;
			}
			return isReleased(lock) ? JobRun.Outcome.LOST : JobRun.Outcome.CRASHED;
		}

		/**
		 * Whether the lock was released without recording the end of the run, which the
		 * record did not accept.
		 */
		private boolean isReleased(LockState lock) {
			return lock.holder() == null && lock.token() == this.token;
		}

		/**
		 * Return how the last run that began ended, if this is the last one that was
		 * granted, without its lock. A run that was released without recording its end
		 * counts as failed, since it is known to have ended.
		 * @param lock the lock that it is stored with
		 * @return the outcome; {@code null} if none began
		 */
		JobRun.@Nullable Outcome end(LockState lock) {
			if (this.outcome == null) {
				return isReleased(lock) ? JobRun.Outcome.FAILED : JobRun.Outcome.CRASHED;
			}
			return (this.outcome == JobRun.Outcome.ABANDONED) ? this.again : this.outcome;
		}

		/**
		 * Whether the run is to be attempted again. This is the case if it crashed or
		 * lost its lock before it ended, or if an attempt to repeat it was abandoned.
		 */
		boolean isRepeatable(LockState lock) {
			JobRun.Outcome end = isHeld(lock) ? null : end(lock);
			boolean crashed = end == JobRun.Outcome.CRASHED || end == JobRun.Outcome.LOST;
			return (crashed && this.attempt < JobDecision.MOST_ATTEMPTS) || (isOpen() && this.attempt > 1);
		}

		StoredRun endedAs(RunEnd end, long now) {
			return new StoredRun(this.planned, this.attempt, this.firing, this.again, this.holder, this.started, now,
					end.outcome(), this.instance, this.token, end.error(), this.afterCrash, this.after, this.plan,
					this.shards);
		}

		StoredRun withOutcome(JobRun.Outcome outcome) {
			return new StoredRun(this.planned, this.attempt, this.firing, this.again, this.holder, this.started,
					this.ended, outcome, this.instance, this.token, this.error, this.afterCrash, this.after, this.plan,
					this.shards);
		}

	}

	/**
	 * The end of a run of a job, as a release records it.
	 *
	 * @param jobId the id of the job
	 * @param outcome how the run ended
	 * @param error the failure of the run
	 * @param open the planned time that is open again unless an earlier run for it had
	 * begun; {@code null} if there is none
	 */
	public record RunEnd(String jobId, JobRun.Outcome outcome, @Nullable String error,
			@Nullable Open open) implements Claim.End {

		/**
		 * The end of a run of any job whose lock an operator released. It counts as
		 * failed, since the operator did not want it to be repeated.
		 */
		public static final RunEnd FORCED = new RunEnd("", JobRun.Outcome.FAILED, "The lock was released by force");

		/** The error of a run whose method was never called. */
		public static final String NEVER_BEGAN = "The lock was granted, but the work never began";

		private static final int LONGEST_ERROR = 300;

		/**
		 * Create the end of a run that settles its planned time.
		 * @param jobId the id of the job
		 * @param outcome how the run ended
		 * @param error the failure of the run
		 */
		public RunEnd(String jobId, JobRun.Outcome outcome, @Nullable String error) {
			this(jobId, outcome, error, null);
		}

		/**
		 * Return the text that is recorded for an error: its first 300 characters, with
		 * each control character replaced by a space.
		 * @param cause the error
		 * @return the text
		 */
		public static String textOf(Throwable cause) {
			boolean wrapped = cause instanceof CompletionException || cause instanceof ExecutionException;
			Throwable inner = wrapped ? cause.getCause() : null;
			return FailureLog.textOf((inner != null) ? inner : cause, LONGEST_ERROR);
		}

		/**
		 * A planned time that is open again, also for other ids of its method.
		 *
		 * @param method the method
		 * @param planned the planned time
		 */
		public record Open(String method, Instant planned) {
		}

	}

}
