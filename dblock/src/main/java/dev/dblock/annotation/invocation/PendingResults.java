package dev.dblock.annotation.invocation;

import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.BaseStream;

import dev.dblock.EndOfWork;
import dev.dblock.LastingTypes;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.SentInterrupts;
import dev.dblock.annotation.name.LockedMethod;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;

/**
 * Watches methods that do not say in their declaration that their work goes on after they
 * return, such as one that returns {@code Object} and in fact a future.
 * <p>
 * The lock must not be given back while the work goes on. So a {@link Future} or
 * {@link CompletionStage} is waited for, under the lock, for as long as it is held, and
 * whether or not the thread is interrupted; where the work has not begun (a publisher, a
 * callable, a stream) or cannot be waited for, the caller gets an exception in place of
 * the result.
 */
final class PendingResults {

	private static final Logger logger = LoggerFactory.getLogger(PendingResults.class);

	private static final long LOOK_AGAIN_SECONDS = 1;

	private final Set<LockedMethod> warned = ConcurrentHashMap.newKeySet();

	private final LastingTypes types;

	PendingResults(LastingTypes types) {
		this.types = types;
	}

	/**
	 * Let a result out of the lock when the work is over.
	 * @throws IllegalStateException when the end of the work cannot be seen
	 */
	@Nullable Object ended(LockedMethod method, @Nullable Object result) {
		Object content = this.types.content(result);
		if (content != null && this.types.isLasting(content.getClass())) {
			end(method, content);
		}
		return result;
	}

	/**
	 * Look at what a sequence or a future delivers, in a thread that must not wait.
	 * @throws IllegalStateException when it stands for work that goes on, or has not
	 * begun
	 */
	void delivered(LockedMethod method, @Nullable Object delivered) {
		Object unfinished = this.types.unfinished(delivered);
		if (unfinished != null) {
			drop(method, unfinished);
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
				("%s returned a %s, whose work would go on without the lock; the result was dropped. Finish the work"
						+ " in the method, or lock where it is done")
					.formatted(method.describe(), result.getClass().getName()));
	}

	private void awaitStage(LockedMethod method, CompletionStage<?> stage) {
		CountDownLatch completed = new CountDownLatch(1);
		EndOfWork.of(stage).whenComplete((value, ex) -> completed.countDown());
		if (completed.getCount() > 0) {
			warn(method, stage);
			uninterruptibly(() -> completed.await(LOOK_AGAIN_SECONDS, TimeUnit.SECONDS));
		}
	}

	private void awaitFuture(LockedMethod method, Future<?> future) {
		if (!future.isDone()) {
			warn(method, future);
			uninterruptibly(() -> awaitDone(future));
		}
	}

	private static boolean awaitDone(Future<?> future) throws InterruptedException {
		try {
			future.get(LOOK_AGAIN_SECONDS, TimeUnit.SECONDS);
		}
		catch (TimeoutException ex) {
			return future.isDone();
		}
		catch (ExecutionException | CancellationException ex) {
			logger.trace("The awaited work failed, as its caller will see", ex);
		}
		return true;
	}

	private void warn(LockedMethod method, Object result) {
		if (this.warned.add(method)) {
			logger.warn("{} returned a {} before its work was complete; its caller waits for it, so that"
					+ " the lock is not released before", method.describe(), result.getClass().getName());
		}
	}

	private static void uninterruptibly(Waiting waiting) {
		try (SentInterrupts.Aside interrupt = SentInterrupts.putAside()) {
			boolean ended = false;
			while (!ended) {
				try {
					ended = waiting.await();
				}
				catch (InterruptedException ex) {
					interrupt.takeSeen();
				}
				if (!ended) {
					LockContext.current().ifPresent(PendingResults::ensureNotLost);
				}
			}
		}
	}

	/**
	 * Under a lock that was lost there is nothing left to wait for.
	 */
	private static void ensureNotLost(LockHandle handle) {
		try {
			handle.ensureHeld();
		}
		catch (DataAccessException ex) {
			logger.debug("Nobody says whether the lock '{}' is still held", handle.name(), ex);
		}
	}

	private interface Waiting {

		boolean await() throws InterruptedException;

	}

}
