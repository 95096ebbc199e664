package dev.dblock.integration;

import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;

import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * {@code LockRegistry} of Spring Integration with locks of dblock: for aggregators, for
 * leader election ({@code LockRegistryLeaderInitiator}) and for other components that
 * require a {@code LockRegistry}. For Spring Integration 7 and later.
 * <p>
 * The locks are those of {@link LockTemplate#asLock}, whose documentation describes the
 * effects of a lease on a {@code java.util.concurrent.locks.Lock}. In short:
 * <ul>
 * <li>A lock is renewed in the background as long as it is held; no scheduler has to be
 * set for that. If the process crashes, the lock ends one lease later.</li>
 * <li>Locking again in the thread that holds the lock checks the lease. If the lease was
 * lost, the method returns {@code false}, or throws a
 * {@link dev.dblock.LockLostException} if it has no result. After that, the lock can be
 * acquired again.</li>
 * <li>The unlock of a lost lock throws a
 * {@link java.util.ConcurrentModificationException}. The unlock in a thread that did not
 * lock throws an {@link IllegalStateException}.</li>
 * <li>Keys are texts, numbers, UUIDs and enum constants. The name of the lock is the key
 * with {@value #PREFIX} before it, so that {@code dblock.locks} in the configuration can
 * set how all of these locks are held.</li>
 * <li>The registry keeps no state of locks that are not held, so nothing has to be
 * expired.</li>
 * </ul>
 */
public final class DblockLockRegistry extends IntegrationRegistry
		implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {

	/**
	 * The default prefix of each key.
	 */
	public static final String PREFIX = "integration:";

	/**
	 * Create a registry whose locks are held as configured in {@code dblock.*}.
	 * @param template acquires the locks
	 */
	public DblockLockRegistry(LockTemplate template) {
		this(template, LockOptions.defaults(), PREFIX);
	}

	/**
	 * Create a registry.
	 * @param template acquires the locks
	 * @param options how to hold the locks; their wait has no effect here
	 * @param prefix the prefix of each key
	 * @throws IllegalArgumentException if the options are invalid
	 */
	public DblockLockRegistry(LockTemplate template, LockOptions options, String prefix) {
		super(template, options, prefix);
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalArgumentException if the type of the key does not have the same text
	 * form in every process, or if the key results in an invalid lock name
	 */
	@Override
	public DistributedLock obtain(Object lockKey) {
		return new IntegrationDistributedLock(this, name(lockKey));
	}

}
