package dev.dblock.local;

import java.time.Duration;

import dev.dblock.store.ReleaseFeed;
import org.jspecify.annotations.Nullable;

/**
 * Reports releases in the store to an engine, in the thread that releases the lock.
 */
final class LocalReleaseFeed implements ReleaseFeed {

	private final LocalLockStore store;

	private @Nullable Listener open;

	LocalReleaseFeed(LocalLockStore store) {
		this.store = store;
	}

	@Override
	public void open(Listener listener) {
		synchronized (this) {
			if (this.open != null) {
				return;
			}
			this.open = listener;
			this.store.addListener(listener);
		}
		listener.listening();
	}

	@Override
	public synchronized void close(Duration atMost) {
		if (this.open != null) {
			this.store.removeListener(this.open);
			this.open = null;
		}
	}

}
