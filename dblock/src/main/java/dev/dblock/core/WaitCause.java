package dev.dblock.core;

/**
 * What makes a waiter ask the store for the lock, or find that it was handed over to it.
 */
public enum WaitCause {

	/**
	 * It has not asked before.
	 */
	FIRST,
	/**
	 * It was told that the name may be free.
	 */
	SIGNAL,
	/**
	 * The holder's lease ended as far as it was known.
	 */
	EXPIRY,
	/**
	 * Its own process gives the lock back for longer than that is waited for.
	 */
	SLOW_RELEASE,
	/**
	 * It found by chance, or after a safety time, that it may ask or has the lock:
	 * whoever made that so should have told it.
	 */
	UNTOLD,
	/**
	 * Nothing tells of releases, so it asks now and then.
	 */
	POLL,
	/**
	 * It was told nothing for long, though releases are told.
	 */
	SLOW_POLL

}
