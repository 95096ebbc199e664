package dev.dblock.store;

import java.time.Duration;

/**
 * Tells which locks are released, anywhere. A store that can tell is asked to do so while
 * somebody waits.
 */
public interface ReleaseFeed {

	/**
	 * A feed of a store that cannot tell.
	 */
	ReleaseFeed NONE = new ReleaseFeed() {

		@Override
		public void open(ReleaseListener listener) {
			listener.unsupported("the lock store does not tell of releases");
		}

		@Override
		public void close(Duration atMost) {
		}

	};

	/**
	 * Begin to tell. Returns at once; whether and when the feed listens is told to the
	 * listener. A feed that is open already is left as it is.
	 * @param listener whom to tell, in any thread; it does not block
	 */
	void open(ReleaseListener listener);

	/**
	 * Stop telling. What the feed uses is given back soon. It can be opened again.
	 * @param atMost how long to wait until it is given back; zero does not wait
	 */
	void close(Duration atMost);

}
