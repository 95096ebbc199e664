package dev.dblock.core;

import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * The threads of one engine. None runs before the first lock is taken, and those that
 * speak to the store or call the application end when they have been idle. A slow server
 * holds up nothing but its own kind, and a slow listener nothing at all.
 */
final class EngineThreads implements AutoCloseable {

	/** A store that swallows one release lets others pass by it. */
	static final int MOST_RELEASES_AT_ONCE = 4;

	private static final long IDLE_SECONDS = 10;

	private static final long CLOSE_SECONDS = 5;

	private final ScheduledThreadPoolExecutor watchdog = new ScheduledThreadPoolExecutor(1, factory("watchdog"));

	private final ThreadPoolExecutor renewals = new ThreadPoolExecutor(0, LeaseWatchdog.MOST_GROUPS, IDLE_SECONDS,
			TimeUnit.SECONDS, new SynchronousQueue<>(), factory("renewal"));

	private final ThreadPoolExecutor releases = queued("release", MOST_RELEASES_AT_ONCE);

	private final ThreadPoolExecutor notifications = queued("notification", 1);

	private final CallbackThreads callbacks = new CallbackThreads();

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
	 * Sends renewals. Has a thread for each group of leases, so that no request that
	 * hangs delays those of other groups; most applications have one or two groups.
	 */
	Executor renewals() {
		return this.renewals;
	}

	/**
	 * Sends the releases that no thread of the application waits for. Each may take as
	 * long as a request may; those that find all threads busy wait for one, and
	 * {@link LeaseReleaser} limits how many do.
	 */
	Executor releases() {
		return this.releases;
	}

	/**
	 * Starts callbacks, and runs none of them. Nothing may block here either.
	 */
	Executor notifications() {
		return this.notifications;
	}

	/**
	 * Runs each callback of the application in a thread of its own. Only losses and late
	 * renewals have callbacks here, so there are as many threads as locks that are lost
	 * at a time, multiplied by the callbacks of each.
	 */
	Executor callbacks() {
		return this.callbacks;
	}

	/**
	 * How many of these callbacks have not returned.
	 */
	int runningCallbacks() {
		return this.callbacks.running.get();
	}

	/**
	 * Stop renewing at once, let callbacks and releases that are under way finish for a
	 * moment, and leave no thread behind.
	 */
	@Override
	public void close() {
		this.watchdog.shutdownNow();
		this.renewals.shutdownNow();
		long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
		boolean interrupted = false;
		for (ExecutorService executor : new ExecutorService[] { this.watchdog, this.renewals, this.notifications,
				this.callbacks, this.releases }) {
			// Notifications have started all callbacks by now, and callbacks all releases
			executor.shutdown();
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

	/**
	 * As many threads as callbacks, which are counted from before they have one.
	 */
	private static final class CallbackThreads extends ThreadPoolExecutor {

		private final AtomicInteger running = new AtomicInteger();

		CallbackThreads() {
			super(0, Integer.MAX_VALUE, IDLE_SECONDS, TimeUnit.SECONDS, new SynchronousQueue<>(), factory("callback"));
		}

		@Override
		public void execute(Runnable callback) {
			this.running.incrementAndGet();
			try {
				super.execute(callback);
			}
			catch (RuntimeException | Error ex) {
				this.running.decrementAndGet();
				throw ex;
			}
		}

		@Override
		protected void afterExecute(Runnable callback, @Nullable Throwable failure) {
			this.running.decrementAndGet();
		}

	}

}
