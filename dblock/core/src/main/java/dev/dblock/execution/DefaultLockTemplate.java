package dev.dblock.execution;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;

import dev.dblock.LockException;
import dev.dblock.LockHandle;
import dev.dblock.LockHandles;
import dev.dblock.LockInfo;
import dev.dblock.LockOptions;
import dev.dblock.LockPage;
import dev.dblock.LockTemplate;
import dev.dblock.LockedAction;
import dev.dblock.LockedFallback;
import dev.dblock.LockedTask;
import dev.dblock.WhenLost;
import dev.dblock.engine.LockEngine;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * The template of an engine. Thread-safe.
 */
public final class DefaultLockTemplate implements LockTemplate {

	private final LockEngine engine;

	/** The engine of single locks, if the other one acquires several as one. */
	private final LockEngine single;

	public DefaultLockTemplate(LockEngine engine) {
		this.engine = engine;
		this.single = (engine instanceof SeveralLocks several) ? several.single() : engine;
	}

	/**
	 * Return the template behind a bean.
	 * @param template the bean
	 * @return the template
	 * @throws IllegalArgumentException if the bean is not a template of this library,
	 * such as a mock
	 */
	public static DefaultLockTemplate of(LockTemplate template) {
		if (template instanceof DefaultLockTemplate known) {
			return known;
		}
		throw new IllegalArgumentException(
				"The LockTemplate is a %s. Pass the bean that dblock creates, since this object needs its engine"
					.formatted(template.getClass().getName()));
	}

	/**
	 * Return the engine of this template.
	 * @return the engine
	 */
	public LockEngine engine() {
		return this.engine;
	}

	@Override
	public <T extends @Nullable Object> T execute(String name, LockOptions options, LockedAction<T> action,
			LockedFallback<T> fallback) {
		Admission admission = Admission.of(this.engine, name, options);
		if (admission instanceof Admission.Refused refused) {
			return Admission.unchanged(() -> fallback.unavailable(refused.refusal()));
		}
		return (admission instanceof Admission.Joined joined) ? run(joined, name, options, action)
				: run((Admission.Acquired) admission, action);
	}

	private static <T extends @Nullable Object> T run(Admission.Acquired acquired, LockedAction<T> action) {
		T result;
		try {
			result = acquired.run(action);
		}
		catch (Throwable ex) {
			acquired.hold().recordFailure(ex);
			throw Admission.<RuntimeException>unchanged(acquired.hold().leaveAfter(ex));
		}
		acquired.hold().leave();
		return result;
	}

	private static <T extends @Nullable Object> T run(Admission.Joined joined, String name, LockOptions options,
			LockedAction<T> action) {
		T result;
		try {
			Runnable reentry = joined.hold().reenter(name, options);
			try {
				result = joined.run(action);
			}
			finally {
				reentry.run();
			}
		}
		catch (Throwable ex) {
			throw Admission.<RuntimeException>unchanged(joined.endAfter(ex));
		}
		joined.end();
		return result;
	}

	@Override
	public boolean executeOrRunAgain(String name, LockOptions options, LockedTask task) {
		return executeOrRunAgain(name, options, () -> {
			task.run();
			return true;
		}, (refusal) -> false);
	}

	/**
	 * Execute an action under a lock, or ask the holder to run it once more, as
	 * {@link #executeOrRunAgain(String, LockOptions, LockedTask)} does.
	 * @param name the name of the lock
	 * @param options how to acquire and hold it
	 * @param action the work
	 * @param asked returns the result if the holder was asked
	 * @param <T> the type of the result
	 * @return the result of the last run, or of the fallback
	 */
	public <T extends @Nullable Object> T executeOrRunAgain(String name, LockOptions options, LockedAction<T> action,
			LockedFallback<T> asked) {
		if (this.engine != this.single) {
			throw new IllegalStateException("Work that runs again on request has a single lock");
		}
		Admission.Joined joined = Admission.Joined.find(this.engine, this.engine.fullName(name));
		return (joined != null) ? run(joined, name, options, action)
				: new RepeatedWork<>(this.engine, name, options, action).execute(asked);
	}

	@Override
	public <T extends @Nullable Object> @Nullable CompletionStage<T> executeAsync(String name, LockOptions options,
			LockedAction<? extends @Nullable CompletionStage<T>> action,
			LockedFallback<? extends @Nullable CompletionStage<T>> fallback) {
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
	 * @return the result of the action or of the fallback; if acquiring the lock fails, a
	 * stage that is completed with that exception
	 * @throws IllegalArgumentException if the name or the options are invalid
	 */
	public <T extends @Nullable Object> @Nullable CompletionStage<T> executeAsync(String name, LockOptions options,
			LockedAction<? extends @Nullable CompletionStage<T>> action,
			LockedFallback<? extends @Nullable CompletionStage<T>> fallback, Consumer<? super T> check) {
		boolean cancelWhenLost = this.engine.complete(name, options).whenLost() == WhenLost.INTERRUPT;
		Admission admission;
		try {
			admission = Admission.of(this.engine, name, options);
		}
		catch (LockException | DataAccessException ex) {
			return CompletableFuture.failedFuture(ex);
		}
		if (admission instanceof Admission.Refused refused) {
			return Admission.unchanged(() -> fallback.unavailable(refused.refusal()));
		}
		if (admission instanceof Admission.Joined joined) {
			return begin(joined, name, options, action, check, cancelWhenLost);
		}
		Hold hold = ((Admission.Acquired) admission).hold();
		CompletionStage<T> work;
		try {
			work = LockedFuture.until(hold, true, cancelWhenLost, () -> entered(hold, action), check);
		}
		finally {
			hold.detach();
		}
		return hold.parts().stream().allMatch(Hold::isOwned) ? work : LockedFuture.awaited(work);
	}

	private static <T extends @Nullable Object> T entered(Hold hold, LockedAction<T> action) throws Throwable {
		try (WorkScope scope = WorkScope.enter(hold)) {
			return action.run();
		}
	}

	private static <T extends @Nullable Object> @Nullable CompletionStage<T> begin(Admission.Joined call, String name,
			LockOptions options, LockedAction<? extends @Nullable CompletionStage<T>> action, Consumer<? super T> check,
			boolean cancelWhenLost) {
		Hold hold = call.hold();
		Runnable reentry;
		try {
			reentry = hold.reenter(name, options);
		}
		catch (LockException | DataAccessException ex) {
			return CompletableFuture.failedFuture(call.endAfter(ex));
		}
		catch (RuntimeException | Error ex) {
			throw Admission.<RuntimeException>unchanged(call.endAfter(ex));
		}
		boolean joined = hold.join();
		call.end();
		CompletionStage<T> work = null;
		try {
			work = LockedFuture.until(hold, false, cancelWhenLost, () -> call.run(action), check);
		}
		finally {
			LockedFuture.whenEnded(work, reentry);
		}
		return joined ? work : LockedFuture.awaited(work);
	}

	@Override
	public <T extends @Nullable Object> T within(LockHandle handle, LockedAction<T> action) {
		handle.ensureHeld();
		Hold hold = Hold.borrowed(this.engine, handle);
		T result;
		try {
			result = attached(hold, action);
		}
		catch (Throwable ex) {
			throw Admission.<RuntimeException>unchanged(hold.leaveAfter(ex));
		}
		hold.leave();
		return result;
	}

	/**
	 * Run work in the current thread under a lock that may have been acquired by another
	 * thread.
	 */
	public static <T extends @Nullable Object> T attached(Hold hold, LockedAction<T> action) {
		try (WorkScope scope = WorkScope.attach(hold)) {
			return Admission.unchanged(action);
		}
	}

	@Override
	public Optional<LockHandle> tryAcquire(String name, LockOptions options) {
		LockEngine.Attempt attempt = (options.waitUpTo() != null) ? this.engine.acquire(name, options)
				: this.engine.acquire(name, options, Duration.ZERO);
		return (attempt instanceof LockEngine.Granted grant) ? Optional.of(grant.handle()) : Optional.empty();
	}

	@Override
	public LockHandle acquire(String name, LockOptions options) {
		LockEngine.Attempt attempt = this.engine.acquire(name, options);
		if (attempt instanceof LockEngine.Refused refused) {
			throw refused.refusal().toException();
		}
		return ((LockEngine.Granted) attempt).handle();
	}

	@Override
	public <T extends @Nullable Object> T executeAll(Map<String, LockOptions> locks, LockedAction<T> action,
			LockedFallback<T> fallback) {
		return forAll(locks).execute(String.join(", ", locks.keySet()), LockOptions.defaults(), action, fallback);
	}

	@Override
	public Optional<LockHandles> tryAcquireAll(Map<String, LockOptions> locks) {
		LockEngine.Attempt attempt = new SeveralLocks(this.single, locks).acquire(false);
		return (attempt instanceof LockEngine.Granted grant) ? Optional.of((LockHandles) grant.handle())
				: Optional.empty();
	}

	@Override
	public LockHandles acquireAll(Map<String, LockOptions> locks) {
		return (LockHandles) forAll(locks).acquire(String.join(", ", locks.keySet()), LockOptions.defaults());
	}

	@Override
	public DefaultLockTemplate forAll(Map<String, LockOptions> locks) {
		return new DefaultLockTemplate(new SeveralLocks(this.single, locks));
	}

	@Override
	public Lock asLock(String name, LockOptions options) {
		return new ReentrantLockView(this.engine, name, options);
	}

	@Override
	public Optional<LockInfo> inspect(String name) {
		return this.single.administration().find(this.single.fullName(name));
	}

	@Override
	public LockPage list(String after, int limit) {
		return this.single.administration().list(false, after, limit);
	}

	@Override
	public LockPage listAll(String after, int limit) {
		return this.single.administration().list(true, after, limit);
	}

	@Override
	public boolean forceRelease(String name) {
		return this.single.administration().forceRelease(this.single.fullName(name));
	}

	@Override
	public boolean forceReleaseNow(String name) {
		return this.single.administration().forceReleaseNow(this.single.fullName(name));
	}

}
