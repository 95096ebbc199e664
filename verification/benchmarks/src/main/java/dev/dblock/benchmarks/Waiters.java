package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that wait for one name. The thread that acquires it keeps it until all may
 * proceed.
 */
final class Waiters {

	private static final Duration LIMIT = Duration.ofMinutes(2);

	private final Locks locks;

	private final String name;

	private final AtomicInteger granted = new AtomicInteger();

	private final CountDownLatch mayProceed = new CountDownLatch(1);

	private final List<Thread> threads = new ArrayList<>();

	Waiters(Locks locks, String name) {
		this.locks = locks;
		this.name = name;
	}

	/**
	 * Start threads, and return once all of them wait.
	 */
	void start(int count) {
		for (int i = 0; i < count; i++) {
			Thread thread = new Thread(this::pass, "waiter-" + i);
			this.threads.add(thread);
			thread.start();
		}
		long end = System.nanoTime() + LIMIT.toNanos();
		while (!this.threads.stream().allMatch(WaitingLine::isWaiting)) {
			if (System.nanoTime() > end) {
				throw new IllegalStateException("Not all threads wait after " + LIMIT);
			}
			LockSupport.parkNanos(Duration.ofMillis(20).toNanos());
		}
	}

	private void pass() {
		try {
			Locks.Section section = this.locks.enter(this.name);
			this.granted.incrementAndGet();
			this.mayProceed.await();
			section.leave();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	int granted() {
		return this.granted.get();
	}

	/**
	 * Let all threads proceed.
	 * @return the number of threads that entered
	 */
	int proceed() throws InterruptedException {
		this.mayProceed.countDown();
		for (Thread thread : this.threads) {
			thread.join(LIMIT.toMillis());
		}
		return granted();
	}

}
