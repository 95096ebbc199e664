package dev.dblock.integration;

import java.time.Duration;

import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;

import org.springframework.scheduling.TaskScheduler;

/**
 * Base class of the registries for all versions of Spring Integration. They differ in the
 * types that they declare.
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
	 * Renew a lock for one lease. Not needed to keep the lock, since it is renewed in the
	 * background.
	 * @param lockKey the key of the lock
	 * @throws IllegalStateException if the current thread does not hold the lock, or has
	 * lost it
	 */
	public void renewLock(Object lockKey) {
		this.locks.renew(lockKey, null);
	}

	/**
	 * Renew a lock for the given time. This never shortens the lease.
	 * @param lockKey the key of the lock
	 * @param ttl how long it must be held from now on
	 * @throws IllegalStateException if the current thread does not hold the lock, or has
	 * lost it
	 */
	public void renewLock(Object lockKey, Duration ttl) {
		this.locks.renew(lockKey, ttl);
	}

	/**
	 * Does nothing, since leases are renewed in the background without a scheduler.
	 * @param renewalTaskScheduler not used
	 */
	public void setRenewalTaskScheduler(TaskScheduler renewalTaskScheduler) {
	}

	/**
	 * Does nothing, since the registry keeps no state of locks that are not held.
	 * @param age not used
	 */
	public void expireUnusedOlderThan(long age) {
	}

	@Override
	public String toString() {
		return this.locks.toString();
	}

}
