package dev.dblock.core;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * The threads of one engine. None runs before the first lock is taken, and those that
 * speak to the store or call the application end when they have been idle, so that a slow
 * server or a slow listener holds up nothing but its own kind.
 */
final class EngineThreads implements AutoCloseable {

	private static final int MOST_RENEWALS_AT_ONCE = 8;

	/** A store that swallows one release lets others pass by it. */
	static final int MOST_RELEASES_AT_ONCE = 4;

	private static final long IDLE_SECONDS = 10;

	private static final long CLOSE_SECONDS = 5;

	private final ScheduledThreadPoolExecutor watchdog = new ScheduledThreadPoolExecutor(1, factory("watchdog"));

	private final ThreadPoolExecutor renewals = new ThreadPoolExecutor(0, MOST_RENEWALS_AT_ONCE, IDLE_SECONDS,
			TimeUnit.SECONDS, new SynchronousQueue<>(), factory("renewal"));

	private final ThreadPoolExecutor releases = queued("release", MOST_RELEASES_AT_ONCE);

	private final ThreadPoolExecutor notifications = queued("notification", 1);

	EngineThreads() {
		this.watchdog.setRemoveOnCancelPolicy(true);
		this.watchdog.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
	}

	private static ThreadPoolExecutor queued(String kind, int threads) {
		ThreadPoolExecutor executor = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), factory(kind));
		executor.allowCoreThreadTimeOut(true);
		return executor;
	}

	private static CustomizableThreadFactory factory(String kind) {
		CustomizableThreadFactory factory = new CustomizableThreadFactory("dblock-" + kind + "-");
		factory.setDaemon(true);
		return factory;
	}

	/**
	 * The clockwork: one thread, on which nothing may block.
	 */
	ScheduledExecutorService watchdog() {
		return this.watchdog;
	}

	/**
	 * Sends renewals. Refuses when all its threads are busy.
	 */
	Executor renewals() {
		return this.renewals;
	}

	/**
	 * Sends the releases that no thread of the application waits for. Each may take as
	 * long as a request may; those that find all threads busy wait for one.
	 */
	Executor releases() {
		return this.releases;
	}

	/**
	 * Calls listeners.
	 */
	Executor notifications() {
		return this.notifications;
	}

	/**
	 * Stop renewing at once, let listeners and releases that are under way finish for a
	 * moment, and leave no thread behind.
	 */
	@Override
	public void close() {
		this.watchdog.shutdownNow();
		this.renewals.shutdownNow();
		this.releases.shutdown();
		this.notifications.shutdown();
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
		boolean interrupted = false;
		for (ExecutorService executor : new ExecutorService[] { this.watchdog, this.renewals, this.notifications,
				this.releases }) {
			interrupted |= !awaitUntil(executor, end);
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	private static boolean awaitUntil(ExecutorService executor, long end) {
		try {
			if (!executor.awaitTermination(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS)) {
				executor.shutdownNow();
			}
			return true;
		}
		catch (InterruptedException ex) {
			executor.shutdownNow();
			return false;
		}
	}

}
