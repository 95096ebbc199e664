package dev.dblock.annotation.invocation;

import java.util.function.Predicate;

import dev.dblock.LockOptions;
import dev.dblock.annotation.name.LockName;
import dev.dblock.engine.LockEngine;
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

	/**
	 * Return how many permits the lock has: those of the settings for its name, or else
	 * those that are declared.
	 * @param engine the engine of the lock; {@code null} if there is none
	 * @return the number; zero for a plain lock
	 */
	int permits(@Nullable LockEngine engine) {
		Integer set = (engine == null) ? null
				: engine.setting(this.name.sample()).map((setting) -> setting.options().permits()).orElse(null);
		Integer permits = (set != null) ? set : this.options.permits();
		return (permits != null) ? permits : 0;
	}

	String nameOf(MethodInvocation invocation) {
		return this.name.of(invocation.getThis(), invocation.getArguments());
	}

}
