package dev.dblock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs an action for each of many numbers, on many threads.
 */
final class ManyThreads {

	private static final int THREADS = 64;

	private ManyThreads() {
	}

	/**
	 * Run the action for each number, then stop the threads.
	 * @param from the first number
	 * @param to the number after the last
	 * @param action the action
	 * @throws Exception if the action failed on a thread
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
	 * Action for a number.
	 */
	@FunctionalInterface
	interface Action {

		void accept(int number) throws Exception;

	}

}
