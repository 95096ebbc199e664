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
		public void open(Listener listener) {
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
	void open(Listener listener);

	/**
	 * Close the feed. It releases its resources soon after, and can be opened again.
	 * @param atMost how long to wait until the resources are released; zero does not wait
	 */
	void close(Duration atMost);

	/**
	 * Listener of a feed.
	 */
	interface Listener {

		/**
		 * Called when the feed reports every release from now on. Releases before this
		 * call may have been missed, so every waiting caller should try once.
		 */
		void listening();

		/**
		 * Called after a lock was released, or its document removed.
		 * @param name its full name
		 */
		void released(String name);

		/**
		 * Called when releases may be missed for a while. The feed keeps trying, and
		 * calls {@link #listening()} when it has succeeded.
		 * @param reason what happened
		 */
		void interrupted(String reason);

		/**
		 * Called if this store cannot report releases. The feed does not try again until
		 * it is opened again.
		 * @param reason why
		 */
		void unsupported(String reason);

	}

}
