package dev.dblock.annotation.invocation;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Determines the time span in which a method's lock is held, according to its return
 * type. Selected once for each method.
 */
interface InvocationStrategy {

	/**
	 * Invoke the method under its lock.
	 */
	@Nullable Object invoke(LockedOperation operation, MethodInvocation invocation) throws Throwable;

	/**
	 * Return the result of a method that was skipped.
	 */
	@Nullable Object skipped();

	/**
	 * Return the reason why a method cannot be skipped, with an alternative.
	 * @return the reason, or {@code null} if it can be skipped
	 */
	default @Nullable String skipUnsupportedReason() {
		return null;
	}

}
