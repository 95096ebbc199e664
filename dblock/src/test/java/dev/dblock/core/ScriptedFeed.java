package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import dev.dblock.store.ReleaseFeed;
import org.jspecify.annotations.Nullable;

/**
 * A feed of releases that sends the signals of a test.
 */
final class ScriptedFeed implements ReleaseFeed {

	private final List<ReleaseFeed.Listener> openings = new CopyOnWriteArrayList<>();

	private volatile boolean open;

	private volatile @Nullable Error failure;

	@Override
	public void open(ReleaseFeed.Listener listener) {
		Error failure = this.failure;
		this.failure = null;
		if (failure != null) {
			throw failure;
		}
		if (!this.open || this.openings.get(this.openings.size() - 1) != listener) {
			this.openings.add(listener);
			this.open = true;
		}
	}

	/**
	 * Let the next opening fail.
	 */
	void fail(Error failure) {
		this.failure = failure;
	}

	/**
	 * Stop without a notification.
	 */
	void die() {
		this.open = false;
	}

	@Override
	public void close(Duration atMost) {
		this.open = false;
	}

	boolean isOpen() {
		return this.open;
	}

	int openings() {
		return this.openings.size();
	}

	/**
	 * Send a signal to the listener that opened the feed last.
	 */
	void send(Consumer<ReleaseFeed.Listener> news) {
		LockWorld.eventually().until(() -> !this.openings.isEmpty());
		news.accept(this.openings.get(this.openings.size() - 1));
	}

}
