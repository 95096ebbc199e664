package dev.dblock.test.autoconfigure;

import java.time.Duration;

import dev.dblock.local.LocalLockRepository;
import dev.dblock.local.LocalLockStore;
import dev.dblock.store.LeaseKey;

/**
 * A lock that another instance of the application holds, as far as the application under
 * test can tell. Ends with the test at the latest.
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
	 * The full name of the lock, prefix included.
	 * @return the name
	 */
	public String name() {
		return this.key.name();
	}

	/**
	 * Have the other instance give the lock back, which wakes whoever waits for it. A
	 * second call does nothing.
	 */
	public void release() {
		this.repository.release(this.key, Duration.ZERO, Duration.ZERO);
	}

	/**
	 * Have the lease of the other instance end without a release, as after it was killed.
	 * Whoever waits is woken.
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
	 * The same as {@link #release()}.
	 */
	@Override
	public void close() {
		release();
	}

}
