package dev.dblock.interceptor;

import java.util.Optional;

import dev.dblock.LockEngine;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.WhenUnavailable;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * A declaration that was checked and made ready for calls.
 *
 * @param method the locked method
 * @param name the name of its lock
 * @param condition which calls are locked, unless all are
 * @param options how the lock is acquired and held; what is left out is the engine's
 * @param span how long the lock lives
 * @param unavailable what is answered while the lock is not available, unless something
 * else is set for its name
 */
record LockOperation(LockedMethod method, LockName name, @Nullable LockCondition condition, LockOptions options,
		LockSpan span, WhenRefused unavailable) {

	/**
	 * Whether a call is to be locked at all.
	 * @throws IllegalArgumentException when that cannot be told
	 */
	boolean isWanted(MethodInvocation invocation) {
		return this.condition == null || this.condition.isMet(invocation.getThis(), invocation.getArguments());
	}

	String nameOf(MethodInvocation invocation) {
		return this.name.of(invocation.getThis(), invocation.getArguments());
	}

	/**
	 * What is answered to a call whose lock is not available.
	 */
	@Nullable Object answer(LockEngine engine, String name, LockRefusal refusal, MethodInvocation invocation) throws Throwable {
		return unavailable(engine.whenUnavailable(name)).answer(refusal, invocation);
	}

	/**
	 * What is answered to a call that comes while the application closes.
	 */
	@Nullable Object answer(LockEngine engine, String name, LockShutdownException shutdown) {
		return unavailable(engine.whenUnavailable(name)).answer(shutdown);
	}

	/**
	 * What is set for the name of a call comes before what is declared. A method that
	 * could not be told from one that ran is never skipped.
	 */
	private WhenRefused unavailable(Optional<WhenUnavailable> set) {
		if (set.isEmpty()) {
			return this.unavailable;
		}
		boolean skipped = LockOperationParser.skips(set.get(), this.method) && this.span.obstacleToSkip() == null;
		return skipped ? new WhenRefused.Skip(this.method, this.span) : WhenRefused.THROW;
	}

}
