package dev.dblock.annotation.invocation;

import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.stream.BaseStream;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.execution.LockedFuture;
import dev.dblock.execution.PendingTypes;
import dev.dblock.support.ManagedWait;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;

/**
 * Detects methods whose work continues after they return without a declared return type
 * that shows it, such as a method that is declared to return {@code Object} but returns a
 * future.
 * <p>
 * The lock must not be released while the work continues. A {@link Future} or
 * {@link CompletionStage} is therefore awaited under the lock for as long as it is held,
 * whether or not the thread is interrupted. If the work has not begun (a publisher, a
 * callable, a stream) or cannot be awaited, the caller gets an exception in place of the
 * result.
 */
final class PendingResults {

	private static final Logger logger = LoggerFactory.getLogger(PendingResults.class);

	private static final long LOOK_AGAIN_SECONDS = 1;

	private static final long LOOK_AGAIN_MILLIS = 10;

	private final Set<LockedMethod> warned = ConcurrentHashMap.newKeySet();

	private final PendingTypes types;

	PendingResults(PendingTypes types) {
		this.types = types;
	}

	/**
	 * Return a result when its work has completed.
	 * @throws IllegalStateException if the end of the work cannot be observed
	 */
	@Nullable Object ended(LockedMethod method, @Nullable Object result) {
		Object content = this.types.content(result);
		if (content != null && this.types.isPending(content.getClass())) {
			end(method, content);
		}
		return result;
	}

	/**
	 * Check an element that a publisher emits, or the value of a future, in a thread that
	 * must not block.
	 * @throws IllegalStateException if it represents work that continues or has not begun
	 */
	void delivered(LockedMethod method, @Nullable Object delivered) {
		Object pending = this.types.pending(delivered);
		if (pending != null) {
			drop(method, pending);
		}
	}

	private void end(LockedMethod method, Object result) {
		if (result instanceof CompletionStage<?> stage) {
			awaitStage(method, stage);
			return;
		}
		if (result instanceof Future<?> future) {
			awaitFuture(method, future);
			return;
		}
		drop(method, result);
	}

	private static void drop(LockedMethod method, Object result) {
		if (result instanceof BaseStream<?, ?> stream) {
			stream.close();
		}
		throw new IllegalStateException(
				("%s returned a %s, whose work would continue without the lock; the result was discarded. Finish the"
						+ " work in the method, or acquire the lock where the work is done")
					.formatted(method.describe(), result.getClass().getName()));
	}

	private void awaitStage(LockedMethod method, CompletionStage<?> stage) {
		CountDownLatch completed = new CountDownLatch(1);
		LockedFuture.whenEnded(stage).whenComplete((value, ex) -> completed.countDown());
		if (completed.getCount() > 0) {
			warn(method, stage);
			await(() -> completed.getCount() == 0, () -> completed.await(LOOK_AGAIN_SECONDS, TimeUnit.SECONDS));
		}
	}

	private void awaitFuture(LockedMethod method, Future<?> future) {
		if (!future.isDone()) {
			warn(method, future);
			AtomicBoolean ended = new AtomicBoolean();
			await(() -> ended.get() || future.isDone(), () -> ended.set(awaitDone(future)));
		}
	}

	private static boolean awaitDone(Future<?> future) throws InterruptedException {
		if (future instanceof ForkJoinTask<?>) {
			// In its pool, get() can run other tasks of it, under the lock, or cancel it
			Thread.sleep(LOOK_AGAIN_MILLIS);
			return false;
		}
		try {
			future.get(LOOK_AGAIN_SECONDS, TimeUnit.SECONDS);
		}
		catch (TimeoutException ex) {
			return false;
		}
		catch (ExecutionException | CancellationException ex) {
			logger.trace("The awaited work failed, as its caller will see", ex);
		}
		return true;
	}

	private void warn(LockedMethod method, Object result) {
		if (this.warned.add(method)) {
			logger.warn("{} returned a {} before its work was complete; its caller waits for it, so that the lock is"
					+ " not released too early", method.describe(), result.getClass().getName());
		}
	}

	private static void await(BooleanSupplier over, ManagedWait.Waiting waiting) {
		ManagedWait.until(over, () -> {
			LockContext.current().ifPresent(PendingResults::ensureNotLost);
			waiting.await();
		});
	}

	/**
	 * Throw an exception if the lock was lost, since there is no point in waiting any
	 * longer.
	 */
	private static void ensureNotLost(LockHandle handle) {
		try {
			handle.ensureHeld();
		}
		catch (DataAccessException ex) {
			logger.debug("It is unknown whether the lock '{}' is still held", handle.name(), ex);
		}
	}

}
