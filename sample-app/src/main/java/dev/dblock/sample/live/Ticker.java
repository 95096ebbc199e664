package dev.dblock.sample.live;

import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Does something again and again in a thread of its own: jobs of the application must not
 * delay what shows them.
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
			logger.debug("The live page stands still: the server is away, or the application stops", ex);
		}
	}

	/**
	 * Waits until what is done now is done.
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
