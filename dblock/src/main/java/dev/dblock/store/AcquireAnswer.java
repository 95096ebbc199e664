package dev.dblock.store;

import java.time.Instant;

import dev.dblock.LockInfo;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRun;
import org.jspecify.annotations.Nullable;

/**
 * The store's answer to an {@link AcquireRequest}.
 */
public sealed interface AcquireAnswer {

	/**
	 * The lock is granted to the caller.
	 *
	 * @param token the fencing token of the grant
	 * @param lastToken the last token of the block that was reserved with it
	 * @param acquiredAt when it was granted, by the store's clock
	 * @param fenceRaised whether the fence was raised against an earlier holder, whose
	 * transactions can no longer be committed
	 * @param run the run of a job that it was granted for
	 */
	record Granted(long token, long lastToken, Instant acquiredAt, boolean fenceRaised,
			@Nullable JobRun run) implements AcquireAnswer {
	}

	/**
	 * The lock is held by another acquisition, or in its minimum hold, or the firing of a
	 * job is not due.
	 *
	 * @param lock its state
	 * @param job why a firing of a job was refused; {@code null} if the lock is held by
	 * something other than a run of the job
	 */
	record Refused(LockInfo lock, @Nullable JobRefusal job) implements AcquireAnswer {

		/**
		 * Create the answer for a lock that is held, or in its minimum hold.
		 * @param lock its state
		 */
		public Refused(LockInfo lock) {
			this(lock, null);
		}

	}

}
