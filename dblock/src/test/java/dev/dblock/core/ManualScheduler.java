package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.Callable;
import java.util.concurrent.Delayed;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * A timer whose tasks run when a test says so, in the test's own thread.
 */
final class ManualScheduler extends AbstractExecutorService implements ScheduledExecutorService {

	private final List<Timed> tasks = new ArrayList<>();

	private @Nullable Error broken;

	private boolean shutdown;

	@Override
	public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
		if (this.shutdown) {
			throw new RejectedExecutionException("shut down");
		}
		if (this.broken != null) {
			throw this.broken;
		}
		Timed task = new Timed(command, Duration.of(delay, unit.toChronoUnit()));
		this.tasks.add(task);
		return task;
	}

	/**
	 * Let every attempt to schedule a task fail.
	 */
	void breakWith(@Nullable Error error) {
		this.broken = error;
	}

	List<Timed> pending() {
		return this.tasks.stream().filter((task) -> !task.isCancelled() && !task.isDone()).toList();
	}

	/**
	 * Run the one task that waits.
	 */
	void runNext() {
		List<Timed> pending = pending();
		if (pending.size() != 1) {
			throw new AssertionError("One task should wait, but these do: " + pending);
		}
		pending.get(0).run();
	}

	@Override
	public void execute(Runnable command) {
		command.run();
	}

	@Override
	public void shutdown() {
		this.shutdown = true;
	}

	@Override
	public List<Runnable> shutdownNow() {
		shutdown();
		return List.of();
	}

	@Override
	public boolean isShutdown() {
		return this.shutdown;
	}

	@Override
	public boolean isTerminated() {
		return this.shutdown;
	}

	@Override
	public boolean awaitTermination(long timeout, TimeUnit unit) {
		return this.shutdown;
	}

	@Override
	public <V> ScheduledFuture<V> schedule(Callable<V> callable, long delay, TimeUnit unit) {
		throw new AssertionError("Nobody here schedules callables");
	}

	@Override
	public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initialDelay, long period, TimeUnit unit) {
		throw new AssertionError("The first exception would end it for ever");
	}

	@Override
	public ScheduledFuture<?> scheduleWithFixedDelay(Runnable command, long initialDelay, long delay, TimeUnit unit) {
		throw new AssertionError("The first exception would end it for ever");
	}

	static final class Timed extends FutureTask<Void> implements ScheduledFuture<Void> {

		private final Runnable command;

		private final Duration delay;

		Timed(Runnable command, Duration delay) {
			super(command, null);
			this.command = command;
			this.delay = delay;
		}

		Duration delay() {
			return this.delay;
		}

		/**
		 * Run it although it was cancelled, as happens when it had begun just before.
		 */
		void runLate() {
			this.command.run();
		}

		@Override
		public long getDelay(TimeUnit unit) {
			return unit.convert(this.delay);
		}

		@Override
		public int compareTo(Delayed other) {
			return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
		}

		@Override
		public String toString() {
			return "task in " + this.delay;
		}

	}

}
