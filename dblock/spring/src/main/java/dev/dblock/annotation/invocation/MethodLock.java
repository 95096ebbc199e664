package dev.dblock.annotation.invocation;

import java.util.function.Predicate;

import dev.dblock.LockOptions;
import dev.dblock.annotation.name.LockName;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * One of the locks of a method.
 *
 * @param name the name of the lock
 * @param condition the condition under which a call is locked; {@code null} if all calls
 * are
 * @param options how the lock is acquired and held; default to those of the engine
 */
record MethodLock(LockName name, @Nullable Predicate<MethodInvocation> condition, LockOptions options) {

	/**
	 * Return whether a call needs this lock.
	 * @throws IllegalArgumentException if the condition cannot be evaluated
	 */
	boolean isWanted(MethodInvocation invocation) {
		return this.condition == null || this.condition.test(invocation);
	}

	String nameOf(MethodInvocation invocation) {
		return this.name.of(invocation.getThis(), invocation.getArguments());
	}

}
