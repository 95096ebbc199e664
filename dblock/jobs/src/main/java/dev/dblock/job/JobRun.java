package dev.dblock.job;

import java.time.Instant;
import java.util.Optional;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.claim.Claimed;
import org.jspecify.annotations.Nullable;

/**
 * A run of a job: a firing that was granted. All instants are by the clock of the server,
 * in milliseconds.
 *
 * @param jobId the id of the job
 * @param plannedAt the planned time that the run is for
 * @param attempt the number of the attempt at this planned time, from 1; it is higher if
 * a crashed run is repeated
 * @param startedAt when the lock was granted for it
 * @param endedAt when its end was recorded; {@code null} while it runs, and if it crashed
 * @param outcome how it ended; {@code null} while it runs
 * @param instance the instance that ran it
 * @param token the fencing token of its lock
 * @param error the failure of the work, at most 300 characters on one line
 * @param after the planned time that was settled before this one, if it is known: those
 * between the two were not run, and are not any more
 * @param plan the schedules of the job on the instance that ran it, as text, if they are
 * known
 * @param shards how many {@linkplain JobPolicy#shards() shards} the planned time has; 0
 * if the job has none
 */
public record JobRun(String jobId, Instant plannedAt, int attempt, Instant startedAt, @Nullable Instant endedAt,
		@Nullable Outcome outcome, String instance, long token, @Nullable String error, @Nullable Instant after,
		@Nullable String plan, int shards) {

	/**
	 * Create a run of a job without shards.
	 * @param jobId the id of the job
	 * @param plannedAt the planned time that the run is for
	 * @param attempt the number of the attempt at this planned time, from 1
	 * @param startedAt when the lock was granted for it
	 * @param endedAt when its end was recorded; {@code null} if it was not
	 * @param outcome how it ended; {@code null} while it runs
	 * @param instance the instance that ran it
	 * @param token the fencing token of its lock
	 * @param error the failure of the work
	 * @param after the planned time that was settled before this one, if it is known
	 * @param plan the schedules of the job on the instance that ran it, if they are known
	 */
	public JobRun(String jobId, Instant plannedAt, int attempt, Instant startedAt, @Nullable Instant endedAt,
			@Nullable Outcome outcome, String instance, long token, @Nullable String error, @Nullable Instant after,
			@Nullable String plan) {
		this(jobId, plannedAt, attempt, startedAt, endedAt, outcome, instance, token, error, after, plan, 0);
	}

	/**
	 * Create a run of which only the run itself is known.
	 * @param jobId the id of the job
	 * @param plannedAt the planned time that the run is for
	 * @param attempt the number of the attempt at this planned time, from 1
	 * @param startedAt when the lock was granted for it
	 * @param endedAt when its end was recorded; {@code null} if it was not
	 * @param outcome how it ended; {@code null} while it runs
	 * @param instance the instance that ran it
	 * @param token the fencing token of its lock
	 * @param error the failure of the work
	 */
	public JobRun(String jobId, Instant plannedAt, int attempt, Instant startedAt, @Nullable Instant endedAt,
			@Nullable Outcome outcome, String instance, long token, @Nullable String error) {
		this(jobId, plannedAt, attempt, startedAt, endedAt, outcome, instance, token, error, null, null);
	}

	/**
	 * Return the number of the shard that this is a run of.
	 * @return the number, from 1 to {@link #shards()}; 0 if the job has no shards
	 */
	public int shard() {
		return (this.shards > 0) ? ShardNames.numberOf(this.jobId) : 0;
	}

	/**
	 * Return the run of a job that this thread works for.
	 * @return the run of the innermost lock that was granted for a planned time, or empty
	 * outside of any
	 */
	public static Optional<JobRun> current() {
		return LockContext.current((handle) -> of(handle).isPresent()).flatMap(JobRun::of);
	}

	/**
	 * Return the run of a job that a lock was granted for. Its planned time is earlier
	 * than the requested one if a crashed run is repeated.
	 * @param handle the handle of the lock
	 * @return the run as of the grant, without an outcome; empty if the lock was not
	 * acquired for a planned time
	 */
	public static Optional<JobRun> of(LockHandle handle) {
		return (Claimed.of(handle) instanceof JobRun run) ? Optional.of(run) : Optional.empty();
	}

	/**
	 * The outcome of a run of a job.
	 */
	public enum Outcome {

		/**
		 * The work returned normally.
		 */
		SUCCEEDED,

		/**
		 * The work threw an exception, or completed with one, or an operator released the
		 * lock by force, or advice inside of the lock did not call the method before the
		 * lock was released.
		 */
		FAILED,

		/**
		 * The lease was lost before the work ended, or the work was interrupted, as by
		 * the shutdown of its instance.
		 */
		LOST,

		/**
		 * The lease expired and the instance that ran the job did not report an end.
		 */
		CRASHED,

		/**
		 * The lock was granted, but the work never began. The planned time is available
		 * again, unless an earlier call of the same firing ran it: then that run decides
		 * whether it is repeated.
		 */
		ABANDONED,

		/**
		 * The planned time could not start within {@code startWithin}. It was not run,
		 * and is not any more. The attempt and the token are 0, and the instance is the
		 * one that recorded this.
		 */
		MISSED

	}

}
