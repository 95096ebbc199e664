package dev.dblock.event;

import java.time.Duration;
import java.time.Instant;

import dev.dblock.LockHandle;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import dev.dblock.job.JobRun;

/**
 * Is called for everything that happens to the locks of this application context. Beans
 * of this type are found and called in their order, except where each is called in a
 * thread of its own. What a listener throws is logged and changes nothing.
 */
public interface LockListener {

	/**
	 * A lock was acquired. Called in the thread that acquired it, before its work starts.
	 * @param handle the new handle
	 */
	default void onAcquired(LockHandle handle) {
	}

	/**
	 * A lock was asked for and refused. Called in the thread that asked.
	 * @param refusal who holds the lock
	 */
	default void onUnavailable(LockRefusal refusal) {
	}

	/**
	 * A lease was renewed when less than a third of it was left: earlier attempts had
	 * failed, or the process was paused. Called in a thread of its own, like
	 * {@link #onLost}.
	 * @param handle the handle that was nearly lost
	 * @param left what was left of the lease
	 */
	default void onRenewedLate(LockHandle handle, Duration left) {
	}

	/**
	 * A lease was lost while its owner still counted on it. Each call has a thread of its
	 * own, so a listener that takes long delays neither other listeners nor the news of
	 * other losses. The calls for several locks may overlap, and the one for a loss may
	 * overtake the one for a late renewal before it.
	 * @param handle the handle that was lost
	 * @param reason why it was lost
	 */
	default void onLost(LockHandle handle, LossReason reason) {
	}

	/**
	 * A lock was given back by its owner. Called in the thread that released it.
	 * @param handle the released handle
	 */
	default void onReleased(LockHandle handle) {
	}

	/**
	 * A run of a job has ended, or has lost its lock. Its start is {@link #onAcquired}
	 * with a handle that has a {@link LockHandle#run() run}. Called in the thread that
	 * released the lock, and at a loss in a thread of its own, like {@link #onLost}.
	 * @param name the full name of the lock
	 * @param run the run as this instance knows it, with its outcome. Its end is by the
	 * server's clock at the grant, continued by that of this instance
	 */
	default void onRunEnded(String name, JobRun run) {
	}

	/**
	 * A planned time of a job was not run, and is no longer tried by this instance.
	 * Called in a thread of its own.
	 * @param name the full name of the lock
	 * @param jobId the id of the job
	 * @param plannedAt the planned time, by the clock of the server
	 */
	default void onMissed(String name, String jobId, Instant plannedAt) {
	}

}
