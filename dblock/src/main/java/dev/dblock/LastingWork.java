package dev.dblock;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.util.ClassUtils;

/**
 * What the caller gets for work that goes on under a lock: completes when the work has
 * ended and the lock was given back, or when the lock was lost.
 *
 * @param <T> the type of the result
 */
final class LastingWork<T extends @Nullable Object> extends CompletableFuture<T> {

	private static final Logger logger = LoggerFactory.getLogger(LastingWork.class);

	private final CompletionStage<T> work;

	private final Hold hold;

	private final boolean cancelWhenLost;

	private final Consumer<? super T> check;

	private final Runnable news = () -> LockThreads.executeCallback(this::lost);

	/** Completes with the work, which may be later than the caller is told of an end. */
	private final CompletableFuture<Boolean> over = new CompletableFuture<>();

	/** Completes when its own lock is lost before the work has ended. */
	private final CompletableFuture<Boolean> lost = new CompletableFuture<>();

	/**
	 * Completes when its own lock, or one of the work within, is lost before that work
	 * has ended: before the caller, whose dependents may block, is notified.
	 */
	private final CompletableFuture<LockLostException> loss = new CompletableFuture<>();

	private volatile @Nullable Thread beginner = Thread.currentThread();

	private volatile boolean ended;

	private LastingWork(CompletionStage<T> work, Hold hold, boolean cancelWhenLost, Consumer<? super T> check) {
		this.work = work;
		this.hold = hold;
		this.cancelWhenLost = cancelWhenLost;
		this.check = check;
	}

	/**
	 * Begin work, and hold the lock until its stage has completed and its result was
	 * looked at.
	 * @return {@code null} when there is no stage
	 */
	@SuppressWarnings("unchecked")
	static <T extends @Nullable Object, E extends Throwable> @Nullable CompletionStage<T> until(Hold hold,
			boolean cancelWhenLost, LockedAction<? extends @Nullable CompletionStage<T>, E> action,
			Consumer<? super T> check) throws E {
		CompletionStage<T> work;
		try {
			work = action.run();
		}
		catch (Throwable ex) {
			throw (E) hold.leaveAfter(ex);
		}
		if (work == null) {
			hold.leave();
			return null;
		}
		LastingWork<T> lasting = new LastingWork<>(work, hold, cancelWhenLost, check);
		lasting.begin();
		return lasting;
	}

	/**
	 * Wait until work has ended or its lock was lost, where the lock cannot be held for
	 * longer than the caller's own work.
	 */
	static <T extends @Nullable Object> @Nullable CompletionStage<T> awaited(@Nullable CompletionStage<T> work) {
		if (work instanceof LastingWork<T> lasting) {
			CompletableFuture.anyOf(lasting.over, lasting.lost).join();
			EndOfWork.completed(lasting).toCompletableFuture().join();
		}
		return work;
	}

	/**
	 * Do something when work has ended, at once where there is none.
	 */
	static void whenEnded(@Nullable CompletionStage<?> work, Runnable action) {
		if (work instanceof LastingWork<?> lasting) {
			CompletableFuture<Void> unused = lasting.over.thenRun(action);
		}
		else {
			action.run();
		}
	}

	CompletionStage<Boolean> endOfWork() {
		return this.over.thenCompose((ended) -> EndOfWork.completed(this));
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
	 * Work that is under another lock as well tells its caller of an end that is not yet
	 * that of the work: of that loss our caller is told, too, but the lock is held on.
	 */
	private void follow() {
		if (!(this.work instanceof LastingWork<T> inner)) {
			this.work.whenComplete(this::ended);
			return;
		}
		CompletionStage<Boolean> over = inner.over;
		over.whenComplete((ended, none) -> this.work.whenComplete(this::ended));
		CompletionStage<LockLostException> lost = inner.loss;
		lost.thenAccept((loss) -> LockThreads.executeCallback(() -> fail(loss)));
	}

	private void fail(LockLostException loss) {
		this.loss.complete(loss);
		completeExceptionally(loss);
	}

	/**
	 * To give the lock back takes a request, for which the thread that happens to
	 * complete the work, perhaps one that must not block, is not made to wait.
	 */
	private void ended(@Nullable T result, @Nullable Throwable failure) {
		if (Thread.currentThread() == this.beginner) {
			end(result, failure);
		}
		else {
			this.hold.aboutToLeave();
			LockThreads.execute(() -> end(result, failure));
		}
	}

	private void end(@Nullable T result, @Nullable Throwable failure) {
		this.ended = true;
		Throwable outcome = this.hold.end((failure != null) ? failure : objection(result));
		this.over.complete(true);
		complete(result, outcome);
		this.hold.forget(this.news);
	}

	/**
	 * Why nobody is to get the result, if so.
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

	// NullAway takes a type variable for one that is never null
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
	 * A loss that is found when the lock is given back is told with what the work came
	 * to.
	 */
	private void lost() {
		if (this.ended) {
			return;
		}
		try {
			this.hold.handle().ensureHeld();
		}
		catch (LockLostException ex) {
			this.lost.complete(true);
			if (this.cancelWhenLost) {
				LockThreads.executeCallback(this::cancelWork);
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
	 * The cancellation of a plain {@link CompletableFuture} only completes it, while the
	 * code behind it goes on, for which the lock is needed still.
	 */
	private static boolean stopsWhenCancelled(Class<?> type) {
		return Future.class.isAssignableFrom(type) && !CompletableFuture.class
			.equals(ClassUtils.getMethod(type, "cancel", boolean.class).getDeclaringClass());
	}

}
