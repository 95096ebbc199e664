package dev.dblock.faults;

/**
 * When a fault was there.
 *
 * @param kind what happened
 * @param worker the number of the worker to which it happened; zero when it happened to
 * the servers, and {@link #NOBODY} when it excuses nobody
 * @param beginNanos when it began
 * @param endNanos when it was over
 */
record Window(String kind, int worker, long beginNanos, long endNanos) {

	static final int NOBODY = -1;

	boolean isForAll() {
		return this.worker == 0;
	}

	boolean overlaps(long fromNanos, long toNanos) {
		return this.beginNanos < toNanos && this.endNanos > fromNanos;
	}

}
