package dev.dblock.observation;

/**
 * The outcome of a {@link LockActivity}.
 */
public enum LockOutcome {

	/**
	 * The lock was granted.
	 */
	ACQUIRED,

	/**
	 * The lock has another holder.
	 */
	UNAVAILABLE,

	/**
	 * The lock was released.
	 */
	RELEASED,

	/**
	 * The lock was handed over to another thread of this process.
	 */
	HANDED_OVER,

	/**
	 * The lock, or one of those to be renewed, was no longer held.
	 */
	LOST,

	/**
	 * The lease of an unreachable handle, which was never closed, ended.
	 */
	ABANDONED,

	/**
	 * All leases were renewed.
	 */
	RENEWED,

	/**
	 * There was no answer, the thread was interrupted, or the application is shutting
	 * down.
	 */
	FAILED

}
