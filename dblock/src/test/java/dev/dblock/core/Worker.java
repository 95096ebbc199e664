package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Something that a test does in another thread.
 *
 * @param <T> the type of the result
 */
public final class Worker<T> {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final FutureTask<T> task;

	private final Thread thread;

	private volatile boolean interruptedAfterwards;

	private Worker(Callable<T> work) {
		this.task = new FutureTask<>(work);
		this.thread = new Thread(() -> {
			this.task.run();
			this.interruptedAfterwards = Thread.currentThread().isInterrupted();
		}, "worker");
		this.thread.setDaemon(true);
	}

	public static <T> Worker<T> start(Callable<T> work) {
		Worker<T> worker = new Worker<>(work);
		worker.thread.start();
		return worker;
	}

	public void interrupt() {
		this.thread.interrupt();
	}

	public boolean isDone() {
		return this.task.isDone();
	}

	/**
	 * Wait until the thread waits for something.
	 */
	public void awaitWaiting() {
		LockWorld.eventually()
			.until(() -> this.thread.getState() == Thread.State.TIMED_WAITING
					|| this.thread.getState() == Thread.State.WAITING);
	}

	/**
	 * Wait until the thread has come to its end, or to a monitor that another one is in.
	 */
	void awaitDoneOrBlocked() {
		LockWorld.eventually().until(() -> isDone() || this.thread.getState() == Thread.State.BLOCKED);
	}

	public T result() throws ExecutionException, InterruptedException, TimeoutException {
		return this.task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
	}

	public Throwable failure() throws InterruptedException {
		try {
			T result = result();
			throw new AssertionError("This should have failed, but came to " + result);
		}
		catch (ExecutionException ex) {
			return ex.getCause();
		}
		catch (TimeoutException ex) {
			throw new AssertionError("This should have failed, but goes on", ex);
		}
	}

	boolean isInterruptedAfterwards() throws InterruptedException {
		this.thread.join(PATIENCE.toMillis());
		assertThat(this.thread.isAlive()).isFalse();
		return this.interruptedAfterwards;
	}

}
