package dev.dblock.test.autoconfigure;

import java.time.Duration;

import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.FenceMark;

/**
 * Lock that another, simulated instance of the application holds. To the application
 * under test, it looks the same as a lock of a real instance. Ends with the test at the
 * latest.
 */
public final class HeldElsewhere implements AutoCloseable {

	private final LocalLockStore store;

	private final LocalLockRepository repository;

	private final LeaseKey key;

	HeldElsewhere(LocalLockStore store, LocalLockRepository repository, LeaseKey key) {
		this.store = store;
		this.repository = repository;
		this.key = key;
	}

	/**
	 * Return the full name of the lock, including the prefix.
	 * @return the name
	 */
	public String name() {
		return this.key.name();
	}

	/**
	 * Have the other instance release the lock, which wakes waiting callers. A second
	 * call does nothing.
	 */
	public void release() {
		this.repository.release(this.key, Duration.ZERO, FenceMark.KEEP, null, Duration.ZERO);
	}

	/**
	 * Have the lease of the other instance expire without a release, as if that instance
	 * had been killed. Waiting callers are woken.
	 */
	public void expire() {
		boolean still = this.repository.find(name())
			.filter((lock) -> this.key.holder().equals(lock.holder()))
			.isPresent();
		if (still) {
			this.store.expire(name());
		}
	}

	/**
	 * Equivalent to {@link #release()}.
	 */
	@Override
	public void close() {
		release();
	}

}
