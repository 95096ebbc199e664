package dev.dblock.support;

import java.util.concurrent.Executor;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.SimpleAsyncTaskExecutor;

/**
 * Provides threads for blocking tasks, on behalf of threads that must not block. Each
 * task has a thread of its own, so that no task waits for another.
 */
public final class CallThreads {

	private static final Logger logger = LoggerFactory.getLogger(CallThreads.class);

	private static final int FIRST_WITH_VIRTUAL_THREADS = 21;

	private static final boolean VIRTUAL = Runtime.version().feature() >= FIRST_WITH_VIRTUAL_THREADS;

	private static final Executor REQUESTS = executor("dblock-call-", VIRTUAL);

	/**
	 * Never virtual: before Java 24, application code that blocks in a synchronized block
	 * would occupy the few carrier threads that all virtual threads share.
	 */
	private static final Executor CALLBACKS = executor("dblock-future-", false);

	private CallThreads() {
	}

	private static Executor executor(String prefix, boolean virtual) {
		SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor(prefix);
		executor.setVirtualThreads(virtual);
		executor.setDaemon(true);
		return executor;
	}

	/**
	 * Acquire or release a lock in a thread of its own, virtual if available.
	 * @param task the task
	 */
	public static void execute(Runnable task) {
		execute(REQUESTS, task);
	}

	/**
	 * Run application code in a thread of its own.
	 * @param callback the code
	 */
	public static void executeCallback(Runnable callback) {
		execute(CALLBACKS, callback);
	}

	/**
	 * Run application code at the end of a task of {@link #execute(Runnable)}: in its
	 * thread, unless that is virtual.
	 * @param callback the code
	 */
	public static void endWithCallback(Runnable callback) {
		if (VIRTUAL) {
			executeCallback(callback);
		}
		else {
			callback.run();
		}
	}

	/**
	 * Run a task in a thread of an executor, or in this one if none can be started: a
	 * lock has to be released, and a loss reported, in any case.
	 * @param executor the executor
	 * @param task the task
	 */
	public static void execute(Executor executor, Runnable task) {
		try {
			executor.execute(task);
		}
		catch (RuntimeException | OutOfMemoryError ex) {
			logger.debug("No thread could be started", ex);
			task.run();
		}
	}

}
