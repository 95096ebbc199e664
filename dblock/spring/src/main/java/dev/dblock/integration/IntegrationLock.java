package dev.dblock.integration;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import dev.dblock.LockOptions;
import org.jspecify.annotations.Nullable;

/**
 * A lock of dblock that behaves like those of Spring Integration's own registries where
 * these differ from the {@link Lock} contract.
 */
class IntegrationLock implements Lock {

	private final IntegrationRegistry registry;

	private final String name;

	private final Lock lock;

	IntegrationLock(IntegrationRegistry registry, String name) {
		this.registry = registry;
		this.name = name;
		this.lock = with(registry.options());
	}

	/**
	 * Return the same lock with other options.
	 */
	final Lock with(LockOptions options) {
		return this.registry.template().asLock(this.name, options);
	}

	final LockOptions options() {
		return this.registry.options();
	}

	@Override
	public final void lock() {
		this.lock.lock();
	}

	@Override
	public final void lockInterruptibly() throws InterruptedException {
		this.lock.lockInterruptibly();
	}

	@Override
	public final boolean tryLock() {
		return this.lock.tryLock();
	}

	@Override
	public final boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		return this.lock.tryLock(time, unit);
	}

	@Override
	public final void unlock() {
		try {
			this.lock.unlock();
		}
		catch (IllegalMonitorStateException ex) {
			throw new IllegalStateException(ex.getMessage(), ex);
		}
	}

	@Override
	public final Condition newCondition() {
		return this.lock.newCondition();
	}

	@Override
	public final boolean equals(@Nullable Object other) {
		return other instanceof IntegrationLock another && another.lock.equals(this.lock);
	}

	@Override
	public final int hashCode() {
		return this.lock.hashCode();
	}

	@Override
	public final String toString() {
		return this.lock.toString();
	}

}
