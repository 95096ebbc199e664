package dev.dblock.core;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.dblock.store.RepositoryInterruptedException;

/**
 * Holds requests up until a test opens it.
 */
final class Gate {

	private static final long PATIENCE_SECONDS = 60;

	private final CountDownLatch reached = new CountDownLatch(1);

	private final CountDownLatch open = new CountDownLatch(1);

	private final CountDownLatch interrupted = new CountDownLatch(1);

	/**
	 * Wait as a driver does: interruptibly, with the interrupt status set afterwards.
	 */
	void pass() {
		this.reached.countDown();
		try {
			await(this.open);
		}
		catch (InterruptedException ex) {
			this.interrupted.countDown();
			Thread.currentThread().interrupt();
			throw new RepositoryInterruptedException(ex);
		}
	}

	void awaitReached() throws InterruptedException {
		await(this.reached);
	}

	boolean isReached() {
		return this.reached.getCount() == 0;
	}

	void awaitInterrupted() throws InterruptedException {
		await(this.interrupted);
	}

	void open() {
		this.open.countDown();
	}

	private static void await(CountDownLatch latch) throws InterruptedException {
		if (!latch.await(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
			throw new AssertionError("Nothing came to this gate in time");
		}
	}

}
