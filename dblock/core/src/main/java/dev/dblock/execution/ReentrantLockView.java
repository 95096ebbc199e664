package dev.dblock.execution;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.engine.LockEngine;
import dev.dblock.support.LossInterrupts;
import org.jspecify.annotations.Nullable;

/**
 * A distributed lock as a {@link Lock}. It has no state of its own, so any two instances
 * for one name represent the same lock.
 */
final class ReentrantLockView implements Lock {

	private static final Duration FOREVER = Duration.ofDays(36_500);

	private final LockEngine engine;

	private final String name;

	private final LockOptions options;

	ReentrantLockView(LockEngine engine, String name, LockOptions options) {
		this.engine = engine;
		this.name = name;
		this.options = options;
		engine.check(name, options);
	}

	@Override
	public void lock() {
		require(acquireUninterruptibly(FOREVER));
	}

	@Override
	public void lockInterruptibly() throws InterruptedException {
		require(acquireInterruptibly(FOREVER));
	}

	/**
	 * Throw an exception if the thread was refused in spite of an endless wait, since
	 * these methods have no result.
	 */
	private static void require(@Nullable LockRefusal refusal) {
		if (refusal != null) {
			throw new IllegalStateException(refusal.describe());
		}
	}

	@Override
	public boolean tryLock() {
		try {
			return acquireUninterruptibly(Duration.ZERO) == null;
		}
		catch (LockLostException ex) {
			return false;
		}
	}

	@Override
	public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		try {
			return acquireInterruptibly(Duration.ofNanos(Math.max(0, unit.toNanos(time)))) == null;
		}
		catch (LockLostException ex) {
			return false;
		}
	}

	private @Nullable LockRefusal acquireInterruptibly(Duration wait) throws InterruptedException {
		if (Thread.interrupted()) {
			throw new InterruptedException();
		}
		try {
			return acquire(wait);
		}
		catch (LockInterruptedException ex) {
			Thread.interrupted();
			InterruptedException interrupted = new InterruptedException(ex.getMessage());
			interrupted.initCause(ex);
			throw interrupted;
		}
	}

	private @Nullable LockRefusal acquireUninterruptibly(Duration wait) {
		try (LossInterrupts.Aside interrupt = LossInterrupts.putAside()) {
			while (true) {
				try {
					return acquire(wait);
				}
				catch (LockInterruptedException ex) {
					interrupt.takeSeen();
				}
			}
		}
	}

	/**
	 * Lock once.
	 * @return the refusal, or {@code null} if the thread now holds the lock
	 */
	private @Nullable LockRefusal acquire(Duration wait) {
		if (reenter(this.engine.fullName(this.name))) {
			return null;
		}
		LockEngine.Attempt attempt = this.engine.acquire(this.name, this.options, wait);
		if (attempt instanceof LockEngine.Refused refused) {
			return refused.refusal();
		}
		ReentrantHold.begin(this.engine, ((LockEngine.Granted) attempt).handle());
		return null;
	}

	private boolean reenter(String fullName) {
		ReentrantHold hold = ReentrantHold.find(this.engine, fullName);
		if (hold != null && hold.reenter(this.name, this.options)) {
			return true;
		}
		Hold outer = Hold.ofThread(this.engine, fullName);
		if (outer == null) {
			return false;
		}
		Runnable reentry = outer.reenter(this.name, this.options);
		ReentrantHold.beginInside(this.engine, outer.handle(), reentry);
		return true;
	}

	@Override
	public void unlock() {
		ReentrantHold hold = ReentrantHold.find(this.engine, this.engine.fullName(this.name));
		if (hold == null) {
			throw new IllegalMonitorStateException(
					("The thread '%s' cannot unlock '%s', because it does not own it: it never locked it, or has"
							+ " already unlocked it as often as it locked it. The thread that locks must unlock")
						.formatted(Thread.currentThread().getName(), this.name));
		}
		hold.unlock();
	}

	@Override
	public Condition newCondition() {
		throw new UnsupportedOperationException(
				"The lock '%s' is shared with other processes, which cannot signal a condition of this one"
					.formatted(this.name));
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof ReentrantLockView view && view.engine == this.engine && view.name.equals(this.name);
	}

	@Override
	public int hashCode() {
		return this.name.hashCode();
	}

	@Override
	public String toString() {
		LockHandle handle = ReentrantHold.handle(this.engine, this.engine.fullName(this.name));
		return (handle != null) ? handle.toString() : "lock '%s', not locked by this thread".formatted(this.name);
	}

}
