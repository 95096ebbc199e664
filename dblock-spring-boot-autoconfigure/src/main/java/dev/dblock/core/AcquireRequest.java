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
 */
public record AcquireRequest(LeaseKey key, Duration lease, String acquirer, String thread, String why,
		Duration timeout) {
}
