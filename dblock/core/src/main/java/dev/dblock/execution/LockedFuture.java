package dev.dblock.execution;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.function.Consumer;

import dev.dblock.LockLostException;
import dev.dblock.LockedAction;
import dev.dblock.LossReason;
import dev.dblock.support.CallThreads;
import dev.dblock.support.ManagedWait;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.ClassUtils;

/**
 * Future for the caller of work that continues under a lock. Completes when the work has
 * ended and the lock was released, or when the lock was lost.
 *
 * @param <T> the type of the result
 */
public final class LockedFuture<T extends @Nullable Object> extends CompletableFuture<T> {

	private static final Logger logger = LoggerFactory.getLogger(LockedFuture.class);

	private final CompletionStage<T> work;

	private final Hold hold;

	/** Whether the lock was acquired for this work. */
	private final boolean acquirer;

	private final boolean cancelWhenLost;

	private final Consumer<? super T> check;

	private final Consumer<LossReason> news = (reason) -> CallThreads.executeCallback(this::lost);

	/** Completes with the work, possibly later than the caller's stage. */
	private final CompletableFuture<Boolean> over = new CompletableFuture<>();

	/**
	 * Completes when its own lock, or that of nested work, is lost before that work has
	 * ended. Completes before the caller's stage, whose dependents may block.
	 */
	private final CompletableFuture<LockLostException> loss = new CompletableFuture<>();

	private volatile @Nullable Thread beginner = Thread.currentThread();

	private volatile boolean ended;

	private LockedFuture(CompletionStage<T> work, Hold hold, boolean acquirer, boolean cancelWhenLost,
			Consumer<? super T> check) {
		this.work = work;
		this.hold = hold;
		this.acquirer = acquirer;
		this.cancelWhenLost = cancelWhenLost;
		this.check = check;
	}

	/**
	 * Begin work, and hold the lock until the stage of the work has completed and its
	 * result was checked.
	 * @return {@code null} if there is no stage
	 */
	static <T extends @Nullable Object> @Nullable CompletionStage<T> until(Hold hold, boolean acquirer,
			boolean cancelWhenLost, LockedAction<? extends @Nullable CompletionStage<T>> action,
			Consumer<? super T> check) {
		CompletionStage<T> work;
		try {
			work = action.run();
		}
		catch (Throwable ex) {
			if (acquirer) {
				hold.recordFailure(ex);
			}
			throw Admission.<RuntimeException>unchanged(hold.leaveAfter(ex));
		}
		if (work == null) {
			hold.leave();
			return null;
		}
		LockedFuture<T> locked = new LockedFuture<>(work, hold, acquirer, cancelWhenLost, check);
		locked.begin();
		return locked;
	}

	/**
	 * Wait until the work has ended or its lock was lost, if the lock cannot outlive the
	 * caller's own work. Of several locks, those that others release count.
	 */
	static <T extends @Nullable Object> @Nullable CompletionStage<T> awaited(@Nullable CompletionStage<T> work) {
		if (work instanceof LockedFuture<T> locked) {
			await(CompletableFuture.anyOf(locked.over, locked.othersLost()));
			await(locked);
		}
		return work;
	}

	/**
	 * Return a stage that completes when all locks that others release are lost.
	 */
	private CompletableFuture<Void> othersLost() {
		List<Hold> others = this.hold.parts().stream().filter((part) -> !part.isOwned()).toList();
		return CompletableFuture.allOf((others.isEmpty() ? List.of(this.hold) : others).stream()
			.map(this::lossOf)
			.toArray(CompletableFuture<?>[]::new));
	}

	private CompletableFuture<Boolean> lossOf(Hold part) {
		CompletableFuture<Boolean> lost = new CompletableFuture<>();
		Consumer<LossReason> news = (reason) -> lost.complete(true);
		part.onLost(news);
		CompletableFuture<Void> unused = this.over.thenRun(() -> part.forget(news));
		return lost;
	}

	/**
	 * Wait whether or not the thread is interrupted, since the lock must not end before
	 * the work. In {@code join()}, a thread of a pool could run another task of it, under
	 * the same lock.
	 */
	private static void await(CompletableFuture<?> stage) {
		CountDownLatch completed = new CountDownLatch(1);
		CompletableFuture<?> unused = stage.whenComplete((result, failure) -> completed.countDown());
		ManagedWait.until(() -> completed.getCount() == 0, completed::await);
	}

	/**
	 * Run an action when the work has ended, or immediately if there is no such work.
	 */
	static void whenEnded(@Nullable CompletionStage<?> work, Runnable action) {
		if (work instanceof LockedFuture<?> locked) {
			CompletableFuture<Void> unused = locked.over.thenRun(action);
		}
		else {
			action.run();
		}
	}

	/**
	 * Follow work to its end. The stage of work under a lock of its own already completes
	 * when that lock is lost, while the work may still continue.
	 * @param work the stage
	 * @return a stage that completes when both the work has ended and the given stage has
	 * completed, never with an exception
	 */
	public static CompletionStage<Boolean> whenEnded(CompletionStage<? extends @Nullable Object> work) {
		return (work instanceof LockedFuture<?> locked) ? locked.over.thenCompose((ended) -> completed(locked))
				: completed(work);
	}

	private static CompletionStage<Boolean> completed(CompletionStage<? extends @Nullable Object> stage) {
		return stage.handle((result, failure) -> true);
	}

	@Override
	public <U> CompletableFuture<U> newIncompleteFuture() {
		return new CompletableFuture<>();
	}

	private void begin() {
		try {
			follow();
		}
		catch (RuntimeException | Error ex) {
			end(null, ex);
			return;
		}
		this.beginner = null;
		if (!this.over.isDone()) {
			this.hold.onLost(this.news);
			if (this.over.isDone()) {
				this.hold.forget(this.news);
			}
		}
	}

	/**
	 * Follow the work to its end. The stage of work under another lock can complete
	 * early, if that lock is lost. The loss is then reported to the caller, too, but this
	 * lock is held until the work has ended.
	 */
	private void follow() {
		if (!(this.work instanceof LockedFuture<T> inner)) {
			this.work.whenComplete(this::ended);
			return;
		}
		CompletionStage<Boolean> over = inner.over;
		over.whenComplete((ended, none) -> this.work.whenComplete(this::ended));
		CompletionStage<LockLostException> lost = inner.loss;
		lost.thenAccept((loss) -> CallThreads.executeCallback(() -> fail(loss)));
	}

	private void fail(LockLostException loss) {
		this.loss.complete(loss);
		completeExceptionally(loss);
	}

	/**
	 * End the work in another thread, since a release takes a request and the thread that
	 * completes the work may be one that must not block.
	 */
	private void ended(@Nullable T result, @Nullable Throwable failure) {
		if (Thread.currentThread() == this.beginner) {
			end(result, failure);
		}
		else {
			this.hold.aboutToLeave();
			CallThreads.execute(() -> {
				Throwable outcome = endHold(result, failure);
				CallThreads.endWithCallback(() -> finish(result, outcome));
			});
		}
	}

	private void end(@Nullable T result, @Nullable Throwable failure) {
		finish(result, endHold(result, failure));
	}

	/**
	 * End the hold of the work.
	 * @return the failure of the work or of the hold; {@code null} if there is none
	 */
	private @Nullable Throwable endHold(@Nullable T result, @Nullable Throwable failure) {
		this.ended = true;
		Throwable thrown = (failure != null) ? failure : objection(result);
		if (thrown != null && this.acquirer) {
			this.hold.recordFailure(thrown);
		}
		return this.hold.end(thrown);
	}

	private void finish(@Nullable T result, @Nullable Throwable outcome) {
		this.over.complete(true);
		complete(result, outcome);
		this.hold.forget(this.news);
	}

	/**
	 * Return the exception that replaces the result, or {@code null} if the check passes.
	 */
	@SuppressWarnings("NullAway")
	private @Nullable Throwable objection(@Nullable T result) {
		try {
			this.check.accept(result);
			return null;
		}
		catch (RuntimeException | Error ex) {
			return ex;
		}
	}

	// NullAway treats a type variable as non-null
	@SuppressWarnings("NullAway")
	private void complete(@Nullable T result, @Nullable Throwable failure) {
		if (failure != null) {
			completeExceptionally(failure);
		}
		else {
			complete(result);
		}
	}

	/**
	 * Report a loss while the work is in progress. A loss that is found at the release is
	 * reported together with the outcome of the work.
	 */
	private void lost() {
		if (this.ended) {
			return;
		}
		try {
			this.hold.handle().ensureHeld();
		}
		catch (LockLostException ex) {
			if (this.ended) {
				return;
			}
			if (this.cancelWhenLost) {
				CallThreads.executeCallback(this::cancelWork);
			}
			fail(ex);
		}
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		boolean cancelled = super.cancel(mayInterruptIfRunning);
		if (cancelled && stopsWhenCancelled(this.work.getClass())) {
			cancelWork();
		}
		return cancelled;
	}

	private void cancelWork() {
		try {
			if (this.work instanceof Future<?> future) {
				future.cancel(true);
			}
		}
		catch (UnsupportedOperationException ex) {
			logger.trace("The work under the lock '{}' cannot be cancelled", this.hold.handle().name(), ex);
		}
	}

	/**
	 * Whether a cancellation stops the work. Cancelling a plain {@link CompletableFuture}
	 * only completes it, while the code behind it continues and still needs the lock.
	 */
	private static boolean stopsWhenCancelled(Class<?> type) {
		return Future.class.isAssignableFrom(type) && !CompletableFuture.class
			.equals(ClassUtils.getMethod(type, "cancel", boolean.class).getDeclaringClass());
	}

}
