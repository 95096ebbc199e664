package dev.dblock.annotation.invocation;

import dev.dblock.LockOptions;
import dev.dblock.annotation.name.LockCondition;
import dev.dblock.annotation.name.LockName;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * One of the locks of a method.
 *
 * @param name the name of the lock
 * @param condition which calls are locked, unless all are
 * @param options how the lock is acquired and held; what is left out is the engine's
 */
public record MethodLock(LockName name, @Nullable LockCondition condition, LockOptions options) {

	/**
	 * Whether a call needs this lock.
	 * @throws IllegalArgumentException when that cannot be told
	 */
	boolean isWanted(MethodInvocation invocation) {
		return this.condition == null || this.condition.isMet(invocation.getThis(), invocation.getArguments());
	}

	String nameOf(MethodInvocation invocation) {
		return this.name.of(invocation.getThis(), invocation.getArguments());
	}

}
