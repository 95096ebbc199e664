package dev.dblock.scenario;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.awaitility.Awaitility;

/**
 * Work of another thread.
 *
 * @param <T> the type of its result
 */
final class Work<T> {

	private static final Duration PATIENCE = Duration.ofSeconds(180);

	private final FutureTask<T> task;

	private final Thread thread;

	private Work(Callable<T> work) {
		this.task = new FutureTask<>(work);
		this.thread = new Thread(this.task, "scenario");
		this.thread.setDaemon(true);
	}

	static <T> Work<T> start(Callable<T> work) {
		Work<T> started = new Work<>(work);
		started.thread.start();
		return started;
	}

	static Work<Boolean> start(Task task) {
		return start(() -> {
			task.run();
			return true;
		});
	}

	boolean isDone() {
		return this.task.isDone();
	}

	void interrupt() {
		this.thread.interrupt();
	}

	/**
	 * Waits until the thread waits for something.
	 */
	void awaitWaiting() {
		Awaitility.await()
			.atMost(PATIENCE)
			.until(() -> this.thread.getState() == Thread.State.TIMED_WAITING
					|| this.thread.getState() == Thread.State.WAITING);
	}

	T result() throws ExecutionException, InterruptedException, TimeoutException {
		return this.task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

	Throwable failure() throws InterruptedException, TimeoutException {
		try {
			throw new AssertionError("This should have failed, but came to " + result());
		}
		catch (ExecutionException ex) {
			return ex.getCause();
		}
	}

	/**
	 * Work without a result.
	 */
	@FunctionalInterface
	interface Task {

		void run() throws Exception;

	}

}
