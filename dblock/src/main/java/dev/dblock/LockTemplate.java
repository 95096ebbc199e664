package dev.dblock;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;
import java.util.stream.BaseStream;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * The bean for programmatic locking:
 *
 * <pre class="code">
 * lockTemplate.execute("stock", () -&gt; reserve(item));
 *
 * try (LockHandle lock = lockTemplate.acquire("stock", LockOptions.lease(ofSeconds(20)).waitUpTo(ofSeconds(5)))) {
 *     repository.save(order, lock.token());
 *     lock.ensureHeld();
 * }
 * </pre>
 *
 * Thread-safe.
 */
public final class LockTemplate implements LockOperations {

	private static final LastingTypes LASTING = new LastingTypes(LockTemplate.class.getClassLoader());

	private final LockEngine engine;

	public LockTemplate(LockEngine engine) {
		this.engine = engine;
	}

	/**
	 * Return the engine of this template.
	 * @return the engine
	 */
	public LockEngine engine() {
		return this.engine;
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(String name, LockOptions options,
			LockedAction<T, E> action, LockedFallback<T, E> fallback) throws E {
		String fullName = this.engine.fullName(name);
		Hold entered = Hold.ofThread(this.engine, fullName);
		if (entered != null) {
			Runnable reentry = this.engine.reenter(entered.handle(), name, options);
			try {
				return reentered(entered, action);
			}
			finally {
				reentry.run();
			}
		}
		LockAttempt attempt = this.engine.acquire(name, options);
		if (attempt instanceof LockRefusal refusal) {
			return fallback.unavailable(refusal);
		}
		Hold hold = Hold.owned(this.engine, ((LockGrant) attempt).handle());
		return leaving(hold, () -> finished(hold, acquired(hold, action)));
	}

	/**
	 * Reject a result whose work continues, or begins, after the lock is released. If the
	 * action has begun such work by {@link #executeAsync} or {@link ReactiveLockTemplate}
	 * under the same lock, the lock may be kept, and the result is accepted.
	 */
	private static <T extends @Nullable Object> T finished(Hold hold, T result) {
		Object unfinished = LASTING.unfinished(result);
		if (unfinished == null || hold.parts().stream().allMatch(Hold::wasJoined)) {
			return result;
		}
		if (unfinished instanceof BaseStream<?, ?> stream) {
			stream.close();
		}
		throw new IllegalStateException(
				("The action under the lock '%s' returned a %s, whose work would go on without the lock; the result was"
						+ " dropped, and what the action has done is not undone. %s")
					.formatted(hold.handle().name(), unfinished.getClass().getName(), instead(unfinished)));
	}

	private static String instead(Object unfinished) {
		if (LASTING.isPublisher(unfinished.getClass())) {
			return "Use ReactiveLockTemplate, which holds the lock until the sequence has ended";
		}
		return (unfinished instanceof CompletionStage || unfinished instanceof Future)
				? "Use executeAsync, which holds the lock until a CompletionStage has completed"
				: "Finish the work in the action";
	}

	/**
	 * Run the action of a re-entry. If a transaction keeps the lock, the thread may
	 * already have been detached, and has to be notified of a loss again from now on.
	 */
	private static <T extends @Nullable Object, E extends Throwable> T reentered(Hold hold, LockedAction<T, E> action)
			throws E {
		return hold.isOwned() ? within(hold, action) : attached(hold, action);
	}

	private static <T extends @Nullable Object, E extends Throwable> T within(Hold hold, LockedAction<T, E> action)
			throws E {
		try (LockContext.Scope scope = LockContext.enter(hold)) {
			return action.run();
		}
	}

	@SuppressWarnings("unchecked")
	private static <T extends @Nullable Object, E extends Throwable> T leaving(Hold hold, LockedAction<T, E> action)
			throws E {
		T result;
		try {
			result = action.run();
		}
		catch (Throwable ex) {
			throw (E) hold.leaveAfter(ex);
		}
		hold.leave();
		return result;
	}

	private static <T extends @Nullable Object, E extends Throwable> T acquired(Hold hold, LockedAction<T, E> action)
			throws E {
		hold.enterThread();
		try {
			return within(hold, action);
		}
		finally {
			hold.leaveThread();
		}
	}

	/**
	 * Execute asynchronous work under a lock. The lock is held until the stage that the
	 * action returns has completed. The action itself runs in this thread, which waits
	 * for the lock as configured. If this thread already works under the same lock, the
	 * work shares that hold, which then ends with the last of the two.
	 * <p>
	 * The returned stage completes after the lock was released, with the outcome of the
	 * action's stage. If the lease is lost, it completes with a {@link LockLostException}
	 * at the moment of the loss, whether or not the work continues. A cancellation stops
	 * the work only if the action's stage is a future that supports this (not a plain
	 * {@link CompletableFuture}, whose cancellation stops nothing); the lock is held
	 * until the work has ended. If this method returned the action's stage for another
	 * lock, the work is followed to its end, and not only to a loss of the other lock. A
	 * stage that is derived from such a stage is followed only to its own completion.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it; with {@link WhenLost#INTERRUPT} a loss
	 * also cancels the action's stage
	 * @param action begins the work
	 * @param fallback the work to do if the lock is not available
	 * @param <T> the type of the result
	 * @param <E> the type of exception that both can throw before there is a stage
	 * @return the result of the action or of the fallback; if acquiring the lock fails, a
	 * stage that is completed with that exception
	 * @throws IllegalArgumentException if the name or the options are invalid
	 * @throws E if the action or the fallback fails before there is a stage
	 */
	public <T extends @Nullable Object, E extends Throwable> @Nullable CompletionStage<T> executeAsync(String name,
			LockOptions options, LockedAction<? extends @Nullable CompletionStage<T>, E> action,
			LockedFallback<? extends @Nullable CompletionStage<T>, E> fallback) throws E {
		return executeAsync(name, options, action, fallback, (result) -> {
		});
	}

	/**
	 * Execute asynchronous work under a lock as
	 * {@link #executeAsync(String, LockOptions, LockedAction, LockedFallback)} does, and
	 * check its result before it is passed on.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it; with {@link WhenLost#INTERRUPT} a loss
	 * also cancels the action's stage
	 * @param action begins the work
	 * @param fallback the work to do if the lock is not available
	 * @param check receives the result of the action while the lock is still held; an
	 * exception that it throws replaces the result
	 * @param <T> the type of the result
	 * @param <E> the type of exception that both can throw before there is a stage
	 * @return the result of the action or of the fallback; if acquiring the lock fails, a
	 * stage that is completed with that exception
	 * @throws IllegalArgumentException if the name or the options are invalid
	 * @throws E if the action or the fallback fails before there is a stage
	 */
	public <T extends @Nullable Object, E extends Throwable> @Nullable CompletionStage<T> executeAsync(String name,
			LockOptions options, LockedAction<? extends @Nullable CompletionStage<T>, E> action,
			LockedFallback<? extends @Nullable CompletionStage<T>, E> fallback, Consumer<? super T> check) throws E {
		String fullName = this.engine.fullName(name);
		boolean cancelWhenLost = this.engine.whenLost(name, options) == WhenLost.INTERRUPT;
		Hold entered = Hold.ofThread(this.engine, fullName);
		LockAttempt attempt = null;
		Runnable reentry = () -> {
		};
		try {
			if (entered == null) {
				attempt = this.engine.acquire(name, options);
			}
			else {
				reentry = this.engine.reenter(entered.handle(), name, options);
			}
		}
		catch (LockException | DataAccessException ex) {
			return CompletableFuture.failedFuture(ex);
		}
		if (attempt instanceof LockRefusal refusal) {
			return fallback.unavailable(refusal);
		}
		if (attempt instanceof LockGrant grant) {
			Hold hold = Hold.owned(this.engine, grant.handle());
			CompletionStage<T> work;
			try {
				work = LastingWork.until(hold, cancelWhenLost, () -> within(hold, action), check);
			}
			finally {
				this.engine.detach(grant.handle());
			}
			return hold.parts().stream().allMatch(Hold::isOwned) ? work : LastingWork.awaited(work);
		}
		Hold hold = Objects.requireNonNull(entered);
		boolean joined = hold.join();
		CompletionStage<T> work = null;
		try {
			work = LastingWork.until(hold, cancelWhenLost, () -> reentered(hold, action), check);
		}
		finally {
			LastingWork.whenEnded(work, reentry);
		}
		return joined ? work : LastingWork.awaited(work);
	}

	/**
	 * Execute an action in this thread under a lock that was acquired by hand, in this
	 * thread or another. {@link LockContext#current()} then returns this lock,
	 * {@link #execute} re-enters it, and transactions that begin meanwhile depend on it.
	 * The lock is neither acquired nor released.
	 * @param handle a handle of this template's engine
	 * @param action the work
	 * @param <T> the type of its result
	 * @param <E> the type of exception that it can throw
	 * @return the result of the work
	 * @throws LockLostException if the lock is no longer held when the work is about to
	 * begin, or when it has ended; an exception of the work is among the suppressed
	 * exceptions
	 * @throws E if the work fails
	 */
	public <T extends @Nullable Object, E extends Throwable> T within(LockHandle handle, LockedAction<T, E> action)
			throws E {
		handle.ensureHeld();
		Hold hold = Hold.borrowed(this.engine, handle);
		return leaving(hold, () -> attached(hold, action));
	}

	static <T extends @Nullable Object, E extends Throwable> T attached(Hold hold, LockedAction<T, E> action) throws E {
		hold.attach();
		try {
			return within(hold, action);
		}
		finally {
			hold.detach();
		}
	}

	@Override
	public Optional<LockHandle> tryAcquire(String name, LockOptions options) {
		LockAttempt attempt = (options.waitUpTo() != null) ? this.engine.acquire(name, options)
				: this.engine.acquire(name, options, Duration.ZERO);
		return (attempt instanceof LockGrant grant) ? Optional.of(grant.handle()) : Optional.empty();
	}

	@Override
	public LockHandle acquire(String name, LockOptions options) {
		LockAttempt attempt = this.engine.acquire(name, options);
		if (attempt instanceof LockRefusal refusal) {
			throw refusal.toException();
		}
		return ((LockGrant) attempt).handle();
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T executeAll(Map<String, LockOptions> locks,
			LockedAction<T, E> action, LockedFallback<T, E> fallback) throws E {
		return forAll(locks).execute(String.join(", ", locks.keySet()), LockOptions.defaults(), action, fallback);
	}

	@Override
	public Optional<LockHandles> tryAcquireAll(Map<String, LockOptions> locks) {
		SeveralLocks several = new SeveralLocks(this.engine, locks).withoutConfiguredWaits();
		return (several.acquire() != null) ? Optional.empty() : Optional.of(several.handles());
	}

	@Override
	public LockHandles acquireAll(Map<String, LockOptions> locks) {
		SeveralLocks several = new SeveralLocks(this.engine, locks);
		LockRefusal refusal = several.acquire();
		if (refusal != null) {
			throw refusal.toException();
		}
		return several.handles();
	}

	/**
	 * Return a template for the locks of one call, all or none. Each of its calls runs
	 * under all of these locks, regardless of the name that is passed, as
	 * {@link #executeAll} does.
	 * @param locks the names of the locks, each with how to acquire and hold it
	 * @return the template
	 * @throws IllegalArgumentException if no lock is named
	 */
	public LockTemplate forAll(Map<String, LockOptions> locks) {
		return new LockTemplate(new SeveralEngine(this.engine, locks));
	}

	@Override
	public Lock asLock(String name, LockOptions options) {
		return new LockView(this.engine, name, options);
	}

	@Override
	public Optional<LockInfo> inspect(String name) {
		return this.engine.inspect(name);
	}

	@Override
	public List<LockInfo> list() {
		return this.engine.list();
	}

	@Override
	public boolean forceRelease(String name) {
		return this.engine.forceRelease(name);
	}

	@Override
	public boolean forceReleaseNow(String name) {
		return this.engine.forceReleaseNow(name);
	}

}
