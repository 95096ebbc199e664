package dev.dblock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Does something for each of many numbers, by many threads.
 */
final class ManyThreads {

	private static final int THREADS = 64;

	private ManyThreads() {
	}

	/**
	 * Do it, and end the threads.
	 * @param from the first number
	 * @param to the number after the last
	 * @param action what to do
	 * @throws Exception when one thread failed
	 */
	static void forEach(int from, int to, Action action) throws Exception {
		AtomicInteger next = new AtomicInteger(from);
		ExecutorService executor = Executors.newFixedThreadPool(THREADS);
		try {
			List<Future<?>> futures = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				futures.add(executor.submit(() -> {
					for (int number = next.getAndIncrement(); number < to; number = next.getAndIncrement()) {
						action.accept(number);
					}
					return null;
				}));
			}
			for (Future<?> future : futures) {
				future.get();
			}
		}
		finally {
			executor.shutdownNow();
		}
	}

	/**
	 * What to do for a number.
	 */
	@FunctionalInterface
	interface Action {

		void accept(int number) throws Exception;

	}

}
