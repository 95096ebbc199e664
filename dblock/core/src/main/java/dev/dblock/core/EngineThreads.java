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

import dev.dblock.core.lease.LockClock;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.concurrent.CustomizableThreadFactory;

/**
 * The threads of one engine. No thread runs before the first lock is acquired, and those
 * that call the store or the application end after an idle time. A slow server delays
 * only requests of the same kind, and a slow listener delays nothing.
 */
final class EngineThreads implements AutoCloseable {

	/** Lets other releases proceed while the store does not answer one of them. */
	static final int MOST_RELEASES_AT_ONCE = 4;

	private static final long IDLE_SECONDS = 10;

	private static final long CLOSE_SECONDS = 5;

	private final ScheduledThreadPoolExecutor watchdog = new ScheduledThreadPoolExecutor(1, factory("watchdog"));

	private final ThreadPoolExecutor renewals = new ThreadPoolExecutor(0, LeaseWatchdog.MOST_GROUPS, IDLE_SECONDS,
			TimeUnit.SECONDS, new SynchronousQueue<>(), factory("renewal"));

	private final ThreadPoolExecutor releases = queued("release", MOST_RELEASES_AT_ONCE);

	private final ThreadPoolExecutor notifications = queued("notification", 1);

	private final CallbackThreads callbacks = new CallbackThreads();

	private final LockClock clock;

	EngineThreads(LockClock clock) {
		this.clock = clock;
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
	 * Return the timer: one thread, on which no task may block.
	 */
	ScheduledExecutorService watchdog() {
		return this.watchdog;
	}

	/**
	 * Return the executor that sends renewals. It has a thread for each group of leases,
	 * so that a request that hangs does not delay the requests of other groups. Most
	 * applications have one or two groups.
	 */
	Executor renewals() {
		return this.renewals;
	}

	/**
	 * Return the executor that sends the releases that no application thread waits for.
	 * Each may take as long as a request may. Releases that find all threads busy wait
	 * for one, and {@link LeaseReleaser} limits their number.
	 */
	Executor releases() {
		return this.releases;
	}

	/**
	 * Return the executor that starts callbacks, but runs none of them. No task may block
	 * here either.
	 */
	Executor notifications() {
		return this.notifications;
	}

	/**
	 * Return the executor that runs each callback of the application in its own thread.
	 * Losses, late renewals, crashed runs and missed planned times have callbacks here,
	 * so the number of threads is the number of these at the same time, multiplied by the
	 * callbacks of each.
	 */
	Executor callbacks() {
		return this.callbacks;
	}

	/**
	 * Return how many of these callbacks have not returned.
	 */
	int runningCallbacks() {
		return this.callbacks.running.get();
	}

	/**
	 * Stop renewing immediately, wait briefly for callbacks and releases that are in
	 * progress, and leave no thread behind.
	 */
	@Override
	public void close() {
		this.watchdog.shutdownNow();
		this.renewals.shutdownNow();
		long end = this.clock.pauseNanos() + TimeUnit.SECONDS.toNanos(CLOSE_SECONDS);
		boolean interrupted = false;
		for (ExecutorService executor : new ExecutorService[] { this.watchdog, this.renewals, this.notifications,
				this.callbacks, this.releases }) {
			// By now, notifications have started all callbacks, and callbacks all
			// releases
			executor.shutdown();
			interrupted |= !awaitUntil(executor, end);
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	private boolean awaitUntil(ExecutorService executor, long end) {
		try {
			if (!executor.awaitTermination(Math.max(0, end - this.clock.pauseNanos()), TimeUnit.NANOSECONDS)) {
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
	 * Runs each callback in its own thread. A callback is counted before it has a thread.
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
