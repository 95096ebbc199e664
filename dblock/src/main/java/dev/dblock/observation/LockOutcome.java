package dev.dblock.observation;

/**
 * How a {@link LockActivity} has ended.
 */
public enum LockOutcome {

	/**
	 * The lock was granted.
	 */
	ACQUIRED,

	/**
	 * Somebody else holds the lock.
	 */
	UNAVAILABLE,

	/**
	 * The lock was given back.
	 */
	RELEASED,

	/**
	 * The lock went on to another thread of this process.
	 */
	HANDED_OVER,

	/**
	 * The lock, or one of those that were to be renewed, was held no more.
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
	 * There was no answer, or the thread was interrupted, or the application is shutting
	 * down.
	 */
	FAILED

}
