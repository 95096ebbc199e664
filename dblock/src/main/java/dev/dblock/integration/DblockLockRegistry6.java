package dev.dblock.integration;

import java.util.concurrent.locks.Lock;

import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;

import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * The {@link DblockLockRegistry} for Spring Integration 6, which knows neither the type
 * of lock nor the type parameters that came later.
 */
// With type arguments, its class could not be looked into where the parameters are
// missing
@SuppressWarnings("rawtypes")
public final class DblockLockRegistry6 extends IntegrationRegistry
		implements ExpirableLockRegistry, RenewableLockRegistry {

	/**
	 * A registry whose locks are held as {@code dblock.*} says.
	 * @param template what takes the locks
	 */
	public DblockLockRegistry6(LockTemplate template) {
		this(template, LockOptions.defaults(), DblockLockRegistry.PREFIX);
	}

	/**
	 * A registry.
	 * @param template what takes the locks
	 * @param options how they are held; their wait means nothing here
	 * @param prefix what is put before each key
	 * @throws IllegalArgumentException when the options cannot be
	 */
	public DblockLockRegistry6(LockTemplate template, LockOptions options, String prefix) {
		super(template, options, prefix);
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalArgumentException when the key is not of a kind that reads the same
	 * in every process, or makes no name for a lock
	 */
	@Override
	public Lock obtain(Object lockKey) {
		return new IntegrationLock(locks(), locks().name(lockKey));
	}

}
