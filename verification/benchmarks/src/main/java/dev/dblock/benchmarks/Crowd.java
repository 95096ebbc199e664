package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;

/**
 * Threads that all compete for one name, again and again. The score is the number of
 * sections between two instants. JMH cannot be used here: it measures each thread from
 * its own start to the end of its own last call. If one thread proceeds while the others
 * starve, these measurements add up to more sections than there were.
 */
final class Crowd {

	private static final Duration END_LIMIT = Duration.ofMinutes(2);

	private final Locks locks;

	private final String name;

	private final int size;

	private final Guard guard;

	private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();

	private volatile boolean ended;

	Crowd(Locks locks, String name, int size, Guard guard) {
		this.locks = locks;
		this.name = name;
		this.size = size;
		this.guard = guard;
	}

	/**
	 * Run the threads for a while.
	 * @param fromNanos when to begin to count, by {@link System#nanoTime()}
	 * @param window how long to count
	 * @return the number of sections per second in that window
	 * @throws Exception if one of the threads failed
	 */
	double sectionsPerSecond(long fromNanos, Duration window) throws Exception {
		CountDownLatch running = new CountDownLatch(this.size);
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < this.size; i++) {
			Thread thread = new Thread(() -> goOn(running), "crowd-" + i);
			threads.add(thread);
			thread.start();
		}
		running.await();
		TimeUnit.NANOSECONDS.sleep(Math.max(0, fromNanos - System.nanoTime()));
		long start = System.nanoTime();
		long before = this.guard.sections();
		TimeUnit.NANOSECONDS.sleep(window.toNanos());
		long sections = this.guard.sections() - before;
		long nanos = System.nanoTime() - start;
		this.ended = true;
		for (Thread thread : threads) {
			thread.join(END_LIMIT.toMillis());
			if (thread.isAlive()) {
				throw new IllegalStateException("A thread still waits for '" + this.name + "' after " + END_LIMIT);
			}
		}
		Exception failure = this.failure.get();
		if (failure != null) {
			throw failure;
		}
		return sections * 1e9 / nanos;
	}

	private void goOn(CountDownLatch running) {
		running.countDown();
		try {
			while (!this.ended) {
				Locks.Section section = this.locks.enter(this.name);
				this.guard.enter(section.token());
				this.guard.leave();
				section.leave();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (RuntimeException ex) {
			this.failure.compareAndSet(null, ex);
			this.ended = true;
		}
	}

}
