package dev.dblock.core;

import java.time.Duration;

/**
 * One attempt to acquire a lock.
 *
 * @param key the name, and the random id of this attempt; an id is never sent for a
 * second attempt
 * @param lease how long the lock is asked for
 * @param acquirer the instance that asks
 * @param thread the thread that asks
 * @param why what the lock is for
 * @param timeout how long the request may take in all
 * @param tokens how many fencing tokens to reserve with the grant: one for the holder,
 * the others for those to whom the lock may be handed over
 */
public record AcquireRequest(LeaseKey key, Duration lease, String acquirer, String thread, String why, Duration timeout,
		int tokens) {

	/**
	 * As many as the clock of the store counts in a millisecond.
	 */
	public static final int USUAL_TOKENS = 1024;

	/**
	 * An attempt of which no more is known than that somebody wants the lock.
	 * @param key the name, and the random id of this attempt
	 * @param lease how long the lock is asked for
	 * @param acquirer the instance that asks
	 * @param thread the thread that asks
	 * @param why what the lock is for
	 * @param timeout how long the request may take in all
	 */
	public AcquireRequest(LeaseKey key, Duration lease, String acquirer, String thread, String why, Duration timeout) {
		this(key, lease, acquirer, thread, why, timeout, USUAL_TOKENS);
	}

}
