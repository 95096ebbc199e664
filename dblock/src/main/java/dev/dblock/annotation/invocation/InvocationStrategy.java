package dev.dblock.annotation.invocation;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * From when to when a method's lock lives, which its return type says. Chosen once for
 * each method.
 */
interface InvocationStrategy {

	/**
	 * Run the method under its lock.
	 */
	@Nullable Object invoke(LockedOperation operation, MethodInvocation invocation) throws Throwable;

	/**
	 * What a method returns that was skipped.
	 */
	@Nullable Object skipped();

	/**
	 * Why a method cannot be skipped, and what else would do.
	 * @return the reason, or {@code null} when it can
	 */
	default @Nullable String obstacleToSkip() {
		return null;
	}

}
