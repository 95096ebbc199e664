package dev.dblock.observation;

/**
 * An activity of the engine that takes time.
 */
public enum LockActivity {

	/**
	 * A thread requests a lock, from its call to the answer, including the wait.
	 */
	ACQUIRE,

	/**
	 * A thread waits, from the first refusal, or from its place behind others, to the
	 * answer.
	 */
	WAIT,

	/**
	 * A lock is held, from the grant to its release or loss.
	 */
	HOLD,

	/**
	 * The leases of several locks are renewed by one request.
	 */
	RENEW,

	/**
	 * A lock is released by one request.
	 */
	RELEASE

}
