package dev.dblock.integration;

import java.time.Duration;
import java.util.concurrent.locks.Lock;

import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;

import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;
import org.springframework.scheduling.TaskScheduler;

/**
 * The {@link DblockLockRegistry} for Spring Integration 6, which knows neither the type
 * of lock nor the type parameters that came later.
 */
// With type arguments, its class could not be looked into where the parameters are
// missing
@SuppressWarnings("rawtypes")
public final class DblockLockRegistry6 implements ExpirableLockRegistry, RenewableLockRegistry {

	private final IntegrationLocks locks;

	/**
	 * A registry whose locks are held as {@code dblock.*} says.
	 * @param template what takes the locks
	 */
	public DblockLockRegistry6(LockTemplate template) {
		this(template, LockOptions.defaults(), "integration:");
	}

	/**
	 * A registry.
	 * @param template what takes the locks
	 * @param options how they are held; their wait means nothing here
	 * @param prefix what is put before each key
	 * @throws IllegalArgumentException when the options cannot be
	 */
	public DblockLockRegistry6(LockTemplate template, LockOptions options, String prefix) {
		this.locks = new IntegrationLocks(template, options, prefix);
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalArgumentException when the key is not of a kind that reads the same
	 * in every process, or makes no name for a lock
	 */
	@Override
	public Lock obtain(Object lockKey) {
		return new IntegrationLock(this.locks, this.locks.name(lockKey));
	}

	/**
	 * {@inheritDoc} Not needed to keep a lock, since that is done in the background.
	 * @throws IllegalStateException when the current thread does not hold the lock, or
	 * has lost it
	 */
	@Override
	public void renewLock(Object lockKey) {
		this.locks.renew(lockKey, null);
	}

	/**
	 * Renew a lock for a time of its own. The lease is never made shorter by this.
	 * @throws IllegalStateException when the current thread does not hold the lock, or
	 * has lost it
	 */
	@Override
	public void renewLock(Object lockKey, Duration ttl) {
		this.locks.renew(lockKey, ttl);
	}

	/**
	 * Does nothing: leases are renewed in the background without it.
	 * @param renewalTaskScheduler not used
	 */
	@Override
	public void setRenewalTaskScheduler(TaskScheduler renewalTaskScheduler) {
	}

	/**
	 * Does nothing: there is nothing here about locks that nobody holds.
	 * @param age not used
	 */
	@Override
	public void expireUnusedOlderThan(long age) {
	}

	@Override
	public String toString() {
		return this.locks.toString();
	}

}
