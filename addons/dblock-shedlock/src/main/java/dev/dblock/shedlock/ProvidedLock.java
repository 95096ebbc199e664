package dev.dblock.shedlock;

import java.lang.ref.WeakReference;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.engine.LockEngine;
import org.jspecify.annotations.Nullable;

/**
 * A lock as the thread that acquired it finds it in {@link LockContext}, as long as it is
 * held. Does not keep the handle alive, since a lock that the application drops has to
 * end with its lease.
 */
final class ProvidedLock extends LockContext {

	private final LockEngine engine;

	private final WeakReference<LockHandle> handle;

	private volatile boolean ended;

	private ProvidedLock(LockEngine engine, LockHandle handle) {
		this.engine = engine;
		this.handle = new WeakReference<>(handle);
	}

	/**
	 * Add a lock to the current thread. Removes those that another thread has released,
	 * and those that were dropped or lost.
	 */
	static ProvidedLock enter(LockEngine engine, LockHandle handle) {
		ProvidedLock over = find(ProvidedLock.class, (lock) -> !lock.isWork());
		while (over != null) {
			over.leave();
			over = find(ProvidedLock.class, (lock) -> !lock.isWork());
		}
		ProvidedLock entered = new ProvidedLock(engine, handle);
		entered.enter();
		return entered;
	}

	/**
	 * End the work under the lock, in any thread.
	 */
	void end() {
		this.ended = true;
		leave();
	}

	@Override
	protected @Nullable LockHandle handle() {
		return this.ended ? null : this.handle.get();
	}

	@Override
	protected boolean isWork() {
		LockHandle current = handle();
		return current != null && current.isHeld();
	}

	@Override
	protected boolean isNamed(String name) {
		return super.isNamed(name) || super.isNamed(this.engine.fullName(name));
	}

}
