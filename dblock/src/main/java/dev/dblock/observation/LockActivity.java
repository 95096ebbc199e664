package dev.dblock.observation;

/**
 * What an engine does for a lock and takes a while.
 */
public enum LockActivity {

	/**
	 * A thread asks for a lock, from its call to the answer, waiting included.
	 */
	ACQUIRE,

	/**
	 * It waits, from the first refusal, or from its place behind others, to the answer.
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
	 * A lock is given back by one request.
	 */
	RELEASE

}
