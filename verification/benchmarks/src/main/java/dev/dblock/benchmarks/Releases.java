package dev.dblock.benchmarks;

import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import dev.dblock.LockTemplate;

/**
 * Acquires and releases locks at a steady rate.
 */
final class Releases implements AutoCloseable {

	private static final int THREADS = 4;

	private static final int NAMES = 1000;

	private final ScheduledExecutorService threads = Executors.newScheduledThreadPool(THREADS);

	private final AtomicLong count = new AtomicLong();

	private final long startNanos = System.nanoTime();

	Releases(LockTemplate locks, int perSecond) {
		long periodNanos = TimeUnit.SECONDS.toNanos(1) * THREADS / perSecond;
		Runnable section = () -> locks.acquire("released-" + this.count.getAndIncrement() % NAMES).close();
		for (int i = 0; i < THREADS; i++) {
			var unused = this.threads.scheduleAtFixedRate(section, periodNanos * i / THREADS, periodNanos,
					TimeUnit.NANOSECONDS);
		}
	}

	double perSecond() {
		return this.count.get() * 1e9 / (System.nanoTime() - this.startNanos);
	}

	@Override
	public void close() throws InterruptedException {
		this.threads.shutdown();
		if (!this.threads.awaitTermination(1, TimeUnit.MINUTES)) {
			throw new IllegalStateException("The releases do not end");
		}
	}

}
