package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

import dev.dblock.LockHandle;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import dev.dblock.event.LockListener;
import dev.dblock.job.JobRun;
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
	public void onRunEnded(String name, JobRun run) {
		boolean lost = run.outcome() == JobRun.Outcome.LOST;
		notifyListeners(lost ? this.callbacks : Runnable::run, "released by a job", name,
				(listener) -> listener.onRunEnded(name, run));
	}

	@Override
	public void onRunCrashed(String name, JobRun run) {
		notifyListeners(this.callbacks, "acquired after a crash", name, (listener) -> listener.onRunCrashed(name, run));
	}

	@Override
	public void onMissed(String name, String jobId, Instant plannedAt) {
		notifyListeners(this.callbacks, "not acquired for a planned time", name,
				(listener) -> listener.onMissed(name, jobId, plannedAt));
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
