package dev.dblock.benchmarks;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/**
 * Enters enough sections for the JVM to compile their code. A section takes milliseconds,
 * so sections entered one after another would be measured while still interpreted.
 */
final class WarmUp {

	private static final int THREADS = 16;

	private WarmUp() {
	}

	/**
	 * Enter sections on several threads, each under a name of its own.
	 * @param subjects the subjects that provide the sections
	 * @param times the number of sections that each thread enters
	 * @throws Exception if a section cannot be entered
	 */
	static void run(List<Locks> subjects, int times) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			for (Locks locks : subjects) {
				await(threads
					.invokeAll(IntStream.range(0, THREADS).mapToObj((i) -> sections(locks, i, times)).toList()));
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

	private static Callable<Void> sections(Locks locks, int thread, int times) {
		return () -> {
			for (int i = 0; i < times; i++) {
				locks.enter("warm-up-" + thread).leave();
			}
			return null;
		};
	}

	private static void await(List<Future<Void>> done) throws InterruptedException, ExecutionException {
		for (Future<Void> each : done) {
			each.get();
		}
	}

}
