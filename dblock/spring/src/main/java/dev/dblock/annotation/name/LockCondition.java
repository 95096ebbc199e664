package dev.dblock.annotation.name;

import java.util.function.Predicate;

import org.aopalliance.intercept.MethodInvocation;

import org.springframework.expression.Expression;

/**
 * The condition under which a call is locked.
 */
final class LockCondition implements Predicate<MethodInvocation> {

	private final LockedMethod method;

	private final Expression expression;

	private final LockNameContexts contexts;

	LockCondition(LockedMethod method, Expression expression, LockNameContexts contexts) {
		this.method = method;
		this.expression = expression;
		this.contexts = contexts;
	}

	/**
	 * Return whether a call is to be locked.
	 * @throws IllegalArgumentException if the condition cannot be evaluated, or is
	 * neither true nor false
	 */
	@Override
	public boolean test(MethodInvocation call) {
		Object value;
		try {
			value = this.expression.getValue(this.contexts.create(this.method, call.getThis(), call.getArguments()));
		}
		catch (RuntimeException ex) {
			throw new IllegalArgumentException(message(LockNameContexts.reason(ex)), ex);
		}
		if (value instanceof Boolean met) {
			return met;
		}
		throw new IllegalArgumentException(message("is neither true nor false, but " + value
				+ ". Write a condition that is true or false for every call"));
	}

	private String message(String reason) {
		return "It is not clear whether to lock %s, so the method was not called: the condition '%s' %s"
			.formatted(this.method.describe(), this.expression.getExpressionString(), reason);
	}

}
