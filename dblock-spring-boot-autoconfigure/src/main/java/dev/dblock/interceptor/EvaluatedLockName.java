package dev.dblock.interceptor;

import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;

/**
 * A name with parts that depend on the call.
 */
final class EvaluatedLockName implements LockName {

	private static final TypeDescriptor STRING = TypeDescriptor.valueOf(String.class);

	private final LockedMethod method;

	private final String template;

	private final List<Expression> parts;

	private final LockNameContexts contexts;

	EvaluatedLockName(LockedMethod method, String template, List<Expression> parts, LockNameContexts contexts) {
		this.method = method;
		this.template = template;
		this.parts = parts;
		this.contexts = contexts;
	}

	@Override
	public String of(@Nullable Object target, @Nullable Object[] arguments) {
		EvaluationContext context = this.contexts.create(this.method, target, arguments);
		StringBuilder name = new StringBuilder();
		for (Expression part : this.parts) {
			name.append((part instanceof LiteralExpression) ? part.getExpressionString() : evaluate(part, context));
		}
		return name.toString();
	}

	private String evaluate(Expression part, EvaluationContext context) {
		String text;
		try {
			text = text(part.getValue(context), context);
		}
		catch (EvaluationException ex) {
			throw new IllegalArgumentException(message(part, "cannot be evaluated: " + ex.getMessage()), ex);
		}
		if (text == null || text.isEmpty()) {
			throw new IllegalArgumentException(message(part, ((text != null) ? "is empty" : "is null")
					+ "; without it calls that have nothing in common would share one lock. Hand in a value, or say"
					+ " what stands for none: #{… ?: 'none'}"));
		}
		return text;
	}

	private static @Nullable String text(@Nullable Object value, EvaluationContext context) {
		return (value instanceof String text) ? text
				: (String) context.getTypeConverter().convertValue(value, TypeDescriptor.forObject(value), STRING);
	}

	private String message(Expression part, String reason) {
		return "The lock of %s has no name, and the method was not called: #{%s} in the name '%s' %s"
			.formatted(this.method.describe(), part.getExpressionString(), this.template, reason);
	}

}
