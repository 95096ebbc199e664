package dev.dblock.sample.live;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a task repeatedly in a separate thread, since jobs of the application must not
 * delay the page that shows them.
 */
final class Ticker implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(Ticker.class);

	private final ScheduledExecutorService executor;

	Ticker(String name) {
		this.executor = Executors.newSingleThreadScheduledExecutor((task) -> {
			Thread thread = new Thread(task, name);
			thread.setDaemon(true);
			return thread;
		});
	}

	void start(Runnable task, Duration pause) {
		ScheduledFuture<?> unused = this.executor.scheduleWithFixedDelay(() -> run(task), 0, pause.toMillis(),
				TimeUnit.MILLISECONDS);
	}

	private static void run(Runnable task) {
		try {
			task.run();
		}
		catch (RuntimeException ex) {
			logger.debug("The live page is not updated: the server is unreachable, or the application is stopping", ex);
		}
	}

	/**
	 * Stop, and wait until the current run of the task has ended.
	 */
	@Override
	public void close() {
		this.executor.shutdownNow();
		try {
			if (!this.executor.awaitTermination(5, TimeUnit.SECONDS)) {
				logger.debug("The live page did not stop in time");
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
