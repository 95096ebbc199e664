package dev.dblock.integration;

import java.time.Duration;

import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;

import org.springframework.scheduling.TaskScheduler;

/**
 * What the registries for all versions of Spring Integration do in the same way. They
 * differ in the types that they declare.
 */
abstract class IntegrationRegistry {

	private final IntegrationLocks locks;

	IntegrationRegistry(LockTemplate template, LockOptions options, String prefix) {
		this.locks = new IntegrationLocks(template, options, prefix);
	}

	final IntegrationLocks locks() {
		return this.locks;
	}

	/**
	 * Renew a lock for one lease. Not needed to keep it, since that is done in the
	 * background.
	 * @param lockKey the key of the lock
	 * @throws IllegalStateException when the current thread does not hold the lock, or
	 * has lost it
	 */
	public void renewLock(Object lockKey) {
		this.locks.renew(lockKey, null);
	}

	/**
	 * Renew a lock for a time of its own. The lease is never made shorter by this.
	 * @param lockKey the key of the lock
	 * @param ttl how long it is to be held from now on
	 * @throws IllegalStateException when the current thread does not hold the lock, or
	 * has lost it
	 */
	public void renewLock(Object lockKey, Duration ttl) {
		this.locks.renew(lockKey, ttl);
	}

	/**
	 * Does nothing: leases are renewed in the background without it.
	 * @param renewalTaskScheduler not used
	 */
	public void setRenewalTaskScheduler(TaskScheduler renewalTaskScheduler) {
	}

	/**
	 * Does nothing: there is nothing here about locks that nobody holds.
	 * @param age not used
	 */
	public void expireUnusedOlderThan(long age) {
	}

	@Override
	public String toString() {
		return this.locks.toString();
	}

}
