package dev.dblock.core.queue;

import dev.dblock.core.lease.Lease;
import org.jspecify.annotations.Nullable;

/**
 * The releases of one lock by this process that are in progress. For some time, they keep
 * its waiters from asking the store. Guarded by the queue's monitor.
 */
final class OwnReleases {

	private final long longestNanos;

	private int count;

	private long sinceNanos;

	private @Nullable Lease returned;

	/**
	 * Create an empty set.
	 * @param longestNanos how long a release keeps the waiters from asking
	 */
	OwnReleases(long longestNanos) {
		this.longestNanos = longestNanos;
	}

	void begin(long nanos) {
		if (this.count == 0) {
			this.sinceNanos = nanos;
		}
		this.count++;
	}

	void end() {
		this.count--;
		if (this.count == 0) {
			this.returned = null;
		}
	}

	boolean isEmpty() {
		return this.count == 0;
	}

	int count() {
		return this.count;
	}

	/**
	 * Return how long the waiters have to wait for a release: zero without one, and
	 * negative if it takes too long.
	 */
	long leftNanos(long nanos) {
		return (this.count > 0) ? this.longestNanos - (nanos - this.sinceNanos) : 0;
	}

	/**
	 * Set the lease that is being released. Has no effect without a release.
	 */
	void returned(@Nullable Lease lease) {
		this.returned = (this.count > 0) ? lease : null;
	}

	@Nullable Lease returned() {
		return this.returned;
	}

}
