package dev.dblock.job;

import java.time.Instant;

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
 */
public record JobRun(String jobId, Instant plannedAt, int attempt, Instant startedAt, @Nullable Instant endedAt,
		@Nullable Outcome outcome, String instance, long token, @Nullable String error) {

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
		 * The lease was lost before the work ended.
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
		ABANDONED

	}

}
