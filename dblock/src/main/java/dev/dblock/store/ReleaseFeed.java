package dev.dblock.store;

import java.time.Duration;

/**
 * Reports which locks are released, by any process. The feed of a store that supports
 * this is open while callers wait for a lock.
 */
public interface ReleaseFeed {

	/**
	 * The feed of a store that cannot report releases.
	 */
	ReleaseFeed NONE = new ReleaseFeed() {

		@Override
		public void open(ReleaseListener listener) {
			listener.unsupported("the lock store does not report releases");
		}

		@Override
		public void close(Duration atMost) {
		}

	};

	/**
	 * Open the feed. Returns immediately; the feed reports to the listener whether and
	 * when it listens. Has no effect on a feed that is already open.
	 * @param listener the listener, which is called in any thread and must not block
	 */
	void open(ReleaseListener listener);

	/**
	 * Close the feed. It releases its resources soon after, and can be opened again.
	 * @param atMost how long to wait until the resources are released; zero does not wait
	 */
	void close(Duration atMost);

}
