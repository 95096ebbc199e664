package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

import dev.dblock.LockHandle;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import dev.dblock.claim.Claim;
import dev.dblock.event.LockListener;
import dev.dblock.support.CallThreads;
import dev.dblock.support.FailureLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.ClassUtils;

/**
 * Calls all listeners as one listener that never throws an exception.
 */
final class LockListeners implements LockListener {

	private static final Logger logger = LoggerFactory.getLogger(LockListeners.class);

	private final Iterable<LockListener> listeners;

	private final Executor callbacks;

	/**
	 * Create a composite of listeners.
	 * @param listeners the listeners
	 * @param callbacks runs each callback that no application thread waits for
	 */
	LockListeners(Iterable<LockListener> listeners, Executor callbacks) {
		this.listeners = listeners;
		this.callbacks = callbacks;
	}

	@Override
	public void onAcquired(LockHandle handle) {
		notifyListeners(Runnable::run, "acquired", handle.name(), (listener) -> listener.onAcquired(handle));
	}

	@Override
	public void onUnavailable(LockRefusal refusal) {
		notifyListeners(Runnable::run, "not available", refusal.name(), (listener) -> listener.onUnavailable(refusal));
	}

	@Override
	public void onRenewedLate(LockHandle handle, Duration left) {
		notifyListeners(this.callbacks, "renewed late", handle.name(),
				(listener) -> listener.onRenewedLate(handle, left));
	}

	@Override
	public void onLost(LockHandle handle, LossReason reason) {
		notifyListeners(this.callbacks, "lost", handle.name(), (listener) -> listener.onLost(handle, reason));
	}

	@Override
	public void onReleased(LockHandle handle) {
		notifyListeners(Runnable::run, "released", handle.name(), (listener) -> listener.onReleased(handle));
	}

	@Override
	public void onNews(String name, Claim.News news) {
		notifyListeners(news.isInOwnThread() ? this.callbacks : Runnable::run, news.what(), name,
				(listener) -> listener.onNews(name, news));
	}

	private void notifyListeners(Executor thread, String what, String lock, Consumer<LockListener> news) {
		try {
			this.listeners
				.forEach((listener) -> CallThreads.execute(thread, () -> notifyListener(listener, what, lock, news)));
		}
		catch (Throwable ex) {
			FailureLog.warn(logger, ex,
					"The lock '{}' was {}, but its listeners could not be notified: the LockListener beans are"
							+ " not available. The lock is not affected; fix the cause",
					lock, what);
		}
	}

	private static void notifyListener(LockListener listener, String what, String lock, Consumer<LockListener> news) {
		try {
			news.accept(listener);
		}
		catch (Throwable ex) {
			FailureLog.warn(logger, ex,
					"The lock '{}' was {}, and the listener {} failed when it was notified. The lock is not affected,"
							+ " and other listeners are notified; fix that listener",
					lock, what, ClassUtils.getUserClass(listener).getName());
		}
	}

}
