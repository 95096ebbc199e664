package dev.dblock.annotation.invocation;

import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.LockedFallback;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.name.LockName;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.settings.LockSettings;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

import org.springframework.dao.DataAccessException;

/**
 * One call of a locked method: the locks that it needs, treated as one, and its result if
 * they are not available.
 */
final class LockCall implements LockedFallback<@Nullable Object> {

	private final LockedOperation operation;

	private final MethodInvocation invocation;

	private final DefaultLockTemplate locks;

	private final String name;

	private final LockOptions options;

	private final @Nullable Several several;

	private final @Nullable CallObserver observer;

	/** Whether the lock was granted or refused. */
	private volatile boolean answered;

	private volatile @Nullable LockHandle granted;

	private LockCall(LockedOperation operation, MethodInvocation invocation, DefaultLockTemplate locks, String name,
			LockOptions options, @Nullable Several several, @Nullable CallObserver observer) {
		this.operation = operation;
		this.invocation = invocation;
		this.locks = locks;
		this.name = name;
		this.options = options;
		this.several = several;
		this.observer = observer;
	}

	/**
	 * Return the locks of a call.
	 * @param observer observes the call; {@code null} for a call by other code
	 * @return the call, or {@code null} if it does not need a lock
	 * @throws IllegalArgumentException if a name or a condition cannot be evaluated
	 */
	static @Nullable LockCall of(LockedOperation operation, Supplier<DefaultLockTemplate> template,
			MethodInvocation invocation, @Nullable CallObserver observer) {
		if (operation.locks().size() > 1) {
			return ofSeveral(operation, template, invocation, observer);
		}
		MethodLock lock = operation.locks().get(0);
		if (!lock.isWanted(invocation)) {
			return unlocked(observer);
		}
		String name = nameOf(lock, invocation, observer);
		return new LockCall(operation, invocation, template.get(), name, options(operation, lock, name, observer), null,
				observer);
	}

	private static String nameOf(MethodLock lock, MethodInvocation invocation, @Nullable CallObserver observer) {
		return (observer != null) ? observer.name(lock.name(), () -> lock.nameOf(invocation)) : lock.nameOf(invocation);
	}

	private static @Nullable LockCall unlocked(@Nullable CallObserver observer) {
		if (observer != null) {
			observer.unlocked();
		}
		return null;
	}

	private static LockOptions options(LockedOperation operation, MethodLock lock, String name,
			@Nullable CallObserver observer) {
		if (observer == null) {
			return lock.options();
		}
		LockEngine engine = operation.engine();
		String varying = (engine != null && !(lock.name() instanceof LockName.Constant)) ? engine.fullName(name) : null;
		return observer.options(lock.options(), varying);
	}

	private static @Nullable LockCall ofSeveral(LockedOperation operation, Supplier<DefaultLockTemplate> template,
			MethodInvocation invocation, @Nullable CallObserver observer) {
		Map<String, LockOptions> wanted = new LinkedHashMap<>();
		for (MethodLock lock : operation.locks()) {
			if (lock.isWanted(invocation)) {
				String name = nameOf(lock, invocation, observer);
				wanted.putIfAbsent(name, options(operation, lock, name, observer));
			}
		}
		if (wanted.isEmpty()) {
			return unlocked(observer);
		}
		DefaultLockTemplate locks = template.get();
		if (wanted.size() == 1) {
			Map.Entry<String, LockOptions> only = wanted.entrySet().iterator().next();
			return new LockCall(operation, invocation, locks, only.getKey(), only.getValue(), null, observer);
		}
		// Now, since a refusal may be answered in another thread, with other prefixes
		Map<String, String> names = new HashMap<>();
		wanted.keySet().forEach((name) -> names.put(locks.engine().fullName(name), name));
		return new LockCall(operation, invocation, locks, String.join(", ", wanted.keySet()), LockOptions.defaults(),
				new Several(locks.forAll(wanted), names), observer);
	}

	/**
	 * Return the template that acquires the locks.
	 */
	DefaultLockTemplate template() {
		return (this.several != null) ? this.several.template() : this.locks;
	}

	/**
	 * Return the name to pass to the template.
	 */
	String name() {
		return this.name;
	}

	/**
	 * Return the options to pass to the template.
	 */
	LockOptions options() {
		return this.options;
	}

	/**
	 * Proceed to the method, in the thread that acquired the locks. A method that runs
	 * again can be called several times.
	 */
	@Nullable Object proceed() throws Throwable {
		begin();
		granted(LockContext.current());
		return this.operation.runsAgain()
				? InvocationStrategy.proceed(this.invocation, this.invocation.getArguments().clone())
				: this.invocation.proceed();
	}

	/**
	 * Whether the method runs once more in this call if other calls ask for it. A setting
	 * for the name of the lock overrides that.
	 */
	boolean runsAgain() {
		return this.operation.runsAgain() && setting(this.name).isEmpty();
	}

	/**
	 * Mark the call as one whose method is invoked.
	 */
	void begin() {
		this.answered = true;
	}

	boolean isObserved() {
		return this.observer != null;
	}

	/**
	 * Report to the observer that the lock was granted.
	 */
	void granted(Optional<LockHandle> handle) {
		this.granted = handle.orElse(null);
		if (this.observer != null) {
			this.observer.granted(handle.orElse(null));
		}
	}

	/**
	 * Report to the observer that the work under the lock has ended without an exception,
	 * before the lock is released.
	 */
	void ended() {
		LockHandle handle = this.granted;
		if (this.observer != null && handle != null) {
			this.observer.ended(handle);
		}
	}

	// NullAway treats a type variable as non-null
	@Override
	@SuppressWarnings("NullAway")
	public @Nullable Object unavailable(LockRefusal refusal) throws Throwable {
		this.answered = true;
		if (this.observer != null && this.observer.refused(refusal)) {
			UnavailableHandler.Skip.log(Level.DEBUG, this.operation.method(), refusal);
			return this.operation.strategy().skipped();
		}
		return this.operation.unavailable(setFor(refusal.name()), isByOtherCode()).answer(refusal, this.invocation);
	}

	/**
	 * Return the result of a call during the shutdown of the application.
	 * @throws LockShutdownException if the call is not to be skipped, or had begun
	 */
	@Nullable Object answer(LockShutdownException shutdown) {
		if (this.answered) {
			throw shutdown;
		}
		return this.operation.unavailable(setFor(shutdown.name()), isByOtherCode()).answer(shutdown);
	}

	/**
	 * Return the result of a call whose acquisition failed in the store.
	 * @throws DataAccessException unless the observer skips the call
	 */
	@Nullable Object answer(DataAccessException failure) {
		if (this.answered || this.observer == null || !this.observer.failed(failure)) {
			throw failure;
		}
		return this.operation.strategy().skipped();
	}

	private boolean isByOtherCode() {
		return this.observer == null && CallCarrier.source(this.invocation) != null;
	}

	/**
	 * Return the setting for the lock that was not acquired.
	 */
	private Optional<WhenUnavailable> setFor(String fullName) {
		if (this.several == null) {
			return setting(this.name);
		}
		return Optional.ofNullable(this.several.names().get(fullName)).flatMap(this::setting);
	}

	private Optional<WhenUnavailable> setting(String name) {
		return this.locks.engine().setting(name).map(LockSettings.Setting::whenUnavailable);
	}

	/**
	 * Several locks that are acquired together.
	 *
	 * @param template acquires them together
	 * @param names the name of each lock, by full name
	 */
	private record Several(DefaultLockTemplate template, Map<String, String> names) {
	}

}
