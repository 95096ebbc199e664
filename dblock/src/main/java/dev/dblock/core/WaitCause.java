package dev.dblock.core;

/**
 * The causes for which a waiter requests the lock from the store, or finds that the lock
 * was handed over to it.
 */
public enum WaitCause {

	/**
	 * The waiter has not sent a request before.
	 */
	FIRST,
	/**
	 * The waiter was notified that the lock may be free.
	 */
	SIGNAL,
	/**
	 * The holder's lease has ended, as far as it was known.
	 */
	EXPIRY,
	/**
	 * Releases are not reported, so the waiter polls.
	 */
	POLL,
	/**
	 * The waiter was not notified for a long time, although releases are reported.
	 */
	SLOW_POLL

}
