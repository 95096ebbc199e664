package dev.dblock.core;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

/**
 * Waits for a pause that doubles with each refusal and is jittered, so that waiters do
 * not ask in step; but never beyond the end of the holder's lease.
 */
final class PollingWaiter implements ContentionWaiter {

	/**
	 * The store counts in whole milliseconds: asking right at the end may be too soon.
	 */
	private static final long AFTER_EXPIRY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	private static final int MOST_DOUBLINGS = 20;

	private final CountDownLatch closed = new CountDownLatch(1);

	private final long minNanos;

	private final long maxNanos;

	PollingWaiter(PollSettings settings) {
		this.minNanos = settings.minInterval().toNanos();
		this.maxNanos = settings.maxInterval().toNanos();
	}

	@Override
	public void await(String name, int refusals, long expiryNanos, long leftNanos) throws InterruptedException {
		long pause = jittered(refusals);
		if (expiryNanos < pause) {
			pause = expiryNanos + AFTER_EXPIRY_NANOS;
		}
		this.closed.await(Math.min(pause, leftNanos), TimeUnit.NANOSECONDS);
	}

	private long jittered(int refusals) {
		int doublings = Math.min(refusals - 1, MOST_DOUBLINGS);
		long pause = Math.min(this.maxNanos, this.minNanos << doublings);
		if (pause < this.minNanos) {
			pause = this.maxNanos;
		}
		return ThreadLocalRandom.current().nextLong(pause / 2, pause + 1);
	}

	@Override
	public void close() {
		this.closed.countDown();
	}

}
