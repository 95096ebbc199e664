package dev.dblock.execution;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.engine.LockAttempt;
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
		if (!acquireUninterruptibly(FOREVER)) {
			throw givenUp();
		}
	}

	@Override
	public void lockInterruptibly() throws InterruptedException {
		if (!acquireInterruptibly(FOREVER)) {
			throw givenUp();
		}
	}

	/**
	 * Reject a wait for a lock that only this thread can release.
	 */
	private void refuseToWaitForItself(String fullName) {
		this.engine.heldByThread(fullName).ifPresent((handle) -> {
			throw new IllegalStateException(("The thread '%s' cannot lock '%s', because it would wait for itself: it"
					+ " already holds that lock through a handle (fencing token %d), which lock() does not re-enter."
					+ " Release the handle first, or run the work in LockTemplate.within(handle, ...), where lock()"
					+ " re-enters it")
				.formatted(Thread.currentThread().getName(), this.name, handle.token()));
		});
	}

	private IllegalStateException givenUp() {
		return new IllegalStateException(("The lock '%s' did not become free within %s, and this thread does not hold"
				+ " it. Check who holds it (LockTemplate.inspect), or use tryLock(time, unit) if its work can take"
				+ " that long")
			.formatted(this.name, FOREVER));
	}

	@Override
	public boolean tryLock() {
		try {
			return acquireUninterruptibly(Duration.ZERO);
		}
		catch (LockLostException ex) {
			return false;
		}
	}

	@Override
	public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
		try {
			return acquireInterruptibly(Duration.ofNanos(Math.max(0, unit.toNanos(time))));
		}
		catch (LockLostException ex) {
			return false;
		}
	}

	private boolean acquireInterruptibly(Duration wait) throws InterruptedException {
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

	private boolean acquireUninterruptibly(Duration wait) {
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

	private boolean acquire(Duration wait) {
		String fullName = this.engine.fullName(this.name);
		if (reenter(fullName)) {
			return true;
		}
		if (wait.equals(FOREVER)) {
			refuseToWaitForItself(fullName);
		}
		LockAttempt attempt = this.engine.acquire(this.name, this.options, wait);
		if (attempt instanceof LockAttempt.Granted grant) {
			ReentrantHold.begin(this.engine, grant.handle());
			return true;
		}
		return false;
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
