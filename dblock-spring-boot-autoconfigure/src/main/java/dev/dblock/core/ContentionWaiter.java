package dev.dblock.core;

/**
 * Where a thread waits between two attempts to acquire a lock that somebody else has.
 */
interface ContentionWaiter extends AutoCloseable {

	/**
	 * Wait until it is worth to try again.
	 * @param name the full name of the lock
	 * @param refusals how many attempts of this thread have been refused in a row
	 * @param expiryNanos when the store said that the name is free at the latest, unless
	 * it is renewed; {@link Long#MAX_VALUE} when it is not known
	 * @param leftNanos how long the thread is willing to wait at most
	 * @throws InterruptedException when the thread is interrupted
	 */
	void await(String name, int refusals, long expiryNanos, long leftNanos) throws InterruptedException;

	/**
	 * Wake everybody for good.
	 */
	@Override
	void close();

}
