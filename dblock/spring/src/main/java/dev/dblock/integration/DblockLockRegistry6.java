package dev.dblock.integration;

import java.util.concurrent.locks.Lock;

import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;

import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * The {@link DblockLockRegistry} for Spring Integration 6, which has neither the lock
 * type nor the type parameters that were added later. The types of one version cannot be
 * loaded with the other.
 */
// With type arguments, reflection on this class would fail where the type parameters are
// missing
@SuppressWarnings("rawtypes")
public final class DblockLockRegistry6 extends IntegrationRegistry
		implements ExpirableLockRegistry, RenewableLockRegistry {

	/**
	 * Create a registry whose locks are held as configured in {@code dblock.*}.
	 * @param template acquires the locks
	 */
	public DblockLockRegistry6(LockTemplate template) {
		this(template, LockOptions.defaults(), DblockLockRegistry.PREFIX);
	}

	/**
	 * Create a registry.
	 * @param template acquires the locks
	 * @param options how to hold the locks; their wait has no effect here
	 * @param prefix the prefix of each key
	 * @throws IllegalArgumentException if the options are invalid
	 */
	public DblockLockRegistry6(LockTemplate template, LockOptions options, String prefix) {
		super(template, options, prefix);
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalArgumentException if the type of the key does not have the same text
	 * form in every process, or if the key results in an invalid lock name
	 */
	@Override
	public Lock obtain(Object lockKey) {
		return new IntegrationLock(this, name(lockKey));
	}

}
