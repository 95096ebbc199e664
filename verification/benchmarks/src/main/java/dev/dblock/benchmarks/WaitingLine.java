package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that request a held lock one after another. Each starts once the previous one
 * is seen to wait, so that their order is certain.
 */
final class WaitingLine {

	private static final Set<Thread.State> WAITING = Set.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private final Locks locks;

	private final String name;

	private final int length;

	private final ConcurrentLinkedQueue<Integer> served = new ConcurrentLinkedQueue<>();

	WaitingLine(Locks locks, String name, int length) {
		this.locks = locks;
		this.name = name;
		this.length = length;
	}

	/**
	 * Let the threads queue up, then let them enter.
	 * @return the number of threads that entered after one that had queued up later
	 */
	int overtaken() throws InterruptedException {
		List<Thread> threads = new ArrayList<>();
		Locks.Section section = this.locks.enter(this.name);
		try {
			for (int i = 0; i < this.length; i++) {
				int number = i;
				Thread thread = new Thread(() -> come(number), "in-line-" + number);
				threads.add(thread);
				thread.start();
				awaitWaiting(thread);
			}
		}
		finally {
			section.leave();
		}
		for (Thread thread : threads) {
			thread.join(LIMIT.toMillis());
		}
		if (this.served.size() != this.length) {
			throw new IllegalStateException("Only " + this.served.size() + " of " + this.length + " were served");
		}
		return countOvertaken();
	}

	private void come(int number) {
		try {
			Locks.Section section = this.locks.enter(this.name);
			this.served.add(number);
			section.leave();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	static boolean isWaiting(Thread thread) {
		return WAITING.contains(thread.getState());
	}

	private static void awaitWaiting(Thread thread) {
		long end = System.nanoTime() + LIMIT.toNanos();
		while (!isWaiting(thread)) {
			if (!thread.isAlive() || System.nanoTime() > end) {
				throw new IllegalStateException(thread.getName() + " does not wait but is " + thread.getState());
			}
			LockSupport.parkNanos(20_000);
		}
	}

	private int countOvertaken() {
		int overtaken = 0;
		int latest = -1;
		for (int number : this.served) {
			if (number < latest) {
				overtaken++;
			}
			latest = Math.max(latest, number);
		}
		return overtaken;
	}

}
