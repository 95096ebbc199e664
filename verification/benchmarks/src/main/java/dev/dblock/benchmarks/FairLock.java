package dev.dblock.benchmarks;

import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * A single fair lock of the JDK, used for every name.
 */
final class FairLock implements Locks {

	private final ReentrantLock lock = new ReentrantLock(true);

	@Override
	public Section enter(String name) throws InterruptedException {
		this.lock.lockInterruptibly();
		return this.lock::unlock;
	}

	@Override
	public @Nullable Section tryEnter(String name) {
		return this.lock.tryLock() ? this.lock::unlock : null;
	}

	@Override
	public void close() {
		// Nothing to close
	}

}
