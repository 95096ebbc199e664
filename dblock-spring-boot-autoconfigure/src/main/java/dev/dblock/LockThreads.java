package dev.dblock;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Threads for what blocks in the place of threads that must not: one for each lock that
 * is being acquired or given back, so that no release ever waits behind those who wait
 * for it. Virtual where there are such. Not for applications.
 */
public final class LockThreads {

	private static final Logger logger = LoggerFactory.getLogger(LockThreads.class);

	private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

	private static final SimpleAsyncTaskExecutor EXECUTOR = executor();

	private LockThreads() {
	}

	private static SimpleAsyncTaskExecutor executor() {
		SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor("dblock-call-");
		executor.setVirtualThreads(Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS);
		executor.setDaemon(true);
		return executor;
	}

	/**
	 * Do something in a thread of its own, and where there can be none, here: a lock is
	 * to be given back in any case.
	 * @param task what to do
	 */
	public static void execute(Runnable task) {
		try {
			EXECUTOR.execute(task);
		}
		catch (RuntimeException | OutOfMemoryError ex) {
			logger.debug("No thread could be started", ex);
			task.run();
		}
	}

}
