package dev.dblock.leader;

import dev.dblock.LossReason;

/**
 * Notified by a {@link LeaderTemplate} when this instance begins and ends to lead. Both
 * methods are called in a thread of the template, never at the same time. Call
 * {@code System.exit}, or close the context, only from another thread: both wait for the
 * listener.
 */
public interface LeaderListener {

	/**
	 * This instance leads from now on. Return soon, and do the work in threads of your
	 * own: a loss is reported only after this method has returned. If it throws an
	 * exception, the instance does not lead, and {@link #lost} is not called.
	 * @param token the fencing token, greater than that of each leader before. Have the
	 * stores that the leader writes to reject lower ones
	 */
	void gained(long token);

	/**
	 * This instance does not lead any more. If it steps down by itself, no other instance
	 * leads until this method has returned, so wait here until the work has stopped. If
	 * that takes longer than a phase of the shutdown, the lock ends with its lease. After
	 * the loss of the lease, another instance may lead already.
	 * @param reason {@link LossReason#RELEASED} if the instance steps down by itself,
	 * {@link LossReason#SHUTDOWN} if the locks are shut down before the template
	 */
	void lost(LossReason reason);

}
