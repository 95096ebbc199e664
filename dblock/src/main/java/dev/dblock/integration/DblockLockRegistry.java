package dev.dblock.integration;

import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;

import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * Spring Integration's locks, kept where dblock keeps its own: for aggregators, for
 * leader election ({@code LockRegistryLeaderInitiator}) and whatever else takes a
 * {@code LockRegistry}. For Spring Integration 7 and later.
 * <p>
 * The locks are those of {@link LockTemplate#asLock}, whose documentation tells what a
 * lease means to somebody who holds a {@code java.util.concurrent.locks.Lock}. In short:
 * <ul>
 * <li>A lock is renewed in the background as long as it is held; no scheduler has to be
 * set for that. It ends by itself one lease after the death of its process.</li>
 * <li>To lock again in the thread that holds the lock looks at the lease: one that was
 * lost gives {@code false}, or a {@link dev.dblock.LockLostException} where there is no
 * result, and after that the lock can be acquired anew.</li>
 * <li>The unlock of what was lost ends in a
 * {@link java.util.ConcurrentModificationException}, that of a thread which did not lock
 * in an {@link IllegalStateException}.</li>
 * <li>Keys are texts, numbers, UUIDs and enum constants; the name of the lock is the key
 * with {@value #PREFIX} before it, so that {@code dblock.locks} in the configuration can
 * say how all of them are held.</li>
 * <li>The registry keeps nothing about a lock that nobody holds, so nothing has to be
 * expired.</li>
 * </ul>
 */
public final class DblockLockRegistry extends IntegrationRegistry
		implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {

	/**
	 * What is put before each key unless something else is said.
	 */
	public static final String PREFIX = "integration:";

	/**
	 * A registry whose locks are held as {@code dblock.*} says.
	 * @param template what takes the locks
	 */
	public DblockLockRegistry(LockTemplate template) {
		this(template, LockOptions.defaults(), PREFIX);
	}

	/**
	 * A registry.
	 * @param template what takes the locks
	 * @param options how they are held; their wait means nothing here
	 * @param prefix what is put before each key
	 * @throws IllegalArgumentException when the options cannot be
	 */
	public DblockLockRegistry(LockTemplate template, LockOptions options, String prefix) {
		super(template, options, prefix);
	}

	/**
	 * {@inheritDoc}
	 * @throws IllegalArgumentException when the key is not of a kind that reads the same
	 * in every process, or makes no name for a lock
	 */
	@Override
	public DistributedLock obtain(Object lockKey) {
		return new IntegrationDistributedLock(locks(), locks().name(lockKey));
	}

}
