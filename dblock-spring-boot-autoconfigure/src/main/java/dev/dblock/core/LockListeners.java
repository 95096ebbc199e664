package dev.dblock.core;

import java.time.Duration;
import java.util.function.Consumer;

import dev.dblock.LockHandle;
import dev.dblock.LockListener;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All listeners as one that throws nothing.
 */
final class LockListeners implements LockListener {

	private static final Logger logger = LoggerFactory.getLogger(LockListeners.class);

	private final Iterable<LockListener> listeners;

	LockListeners(Iterable<LockListener> listeners) {
		this.listeners = listeners;
	}

	@Override
	public void onAcquired(LockHandle handle) {
		tell((listener) -> listener.onAcquired(handle));
	}

	@Override
	public void onUnavailable(LockRefusal refusal) {
		tell((listener) -> listener.onUnavailable(refusal));
	}

	@Override
	public void onRenewedLate(LockHandle handle, Duration left) {
		tell((listener) -> listener.onRenewedLate(handle, left));
	}

	@Override
	public void onLost(LockHandle handle, LossReason reason) {
		tell((listener) -> listener.onLost(handle, reason));
	}

	@Override
	public void onReleased(LockHandle handle) {
		tell((listener) -> listener.onReleased(handle));
	}

	private void tell(Consumer<LockListener> news) {
		try {
			this.listeners.forEach((listener) -> tell(listener, news));
		}
		catch (Throwable ex) {
			logger.warn("The lock listeners could not be told; the lock is not affected", ex);
		}
	}

	private static void tell(LockListener listener, Consumer<LockListener> news) {
		try {
			news.accept(listener);
		}
		catch (Throwable ex) {
			logger.warn("The lock listener {} failed; the lock is not affected", listener, ex);
		}
	}

}
