package dev.dblock.annotation.name;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

import dev.dblock.settings.LockSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.Expression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * A lock name with parts that depend on the call.
 */
final class EvaluatedLockName implements LockName {

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

	@Override
	public String template() {
		return this.template;
	}

	@Override
	public String shape() {
		return this.parts.stream()
			.map((part) -> (part instanceof LiteralExpression) ? part.getExpressionString()
					: String.valueOf(LockSettings.ANYTHING))
			.collect(Collectors.joining());
	}

	@Override
	public boolean contains(int parameter) {
		Map<String, Integer> parameters = this.contexts.parameters(this.method);
		return this.parts.stream()
			.anyMatch((part) -> part instanceof SpelExpression expression
					&& expression.getAST() instanceof VariableReference variable
					&& Integer.valueOf(parameter).equals(parameters.get(variable.toStringAST().substring(1))));
	}

	private String evaluate(Expression part, EvaluationContext context) {
		LockNamePart evaluated = new LockNamePart(context);
		try {
			return evaluated.text(
					(part instanceof SpelExpression expression) ? evaluated.value(expression) : part.getValue(context));
		}
		catch (LockNamePart.MissingException ex) {
			throw new IllegalArgumentException(message(part,
					ex.getMessage()
							+ "; otherwise unrelated calls would share one lock. Pass a value, or set a default: #{… ?:"
							+ " 'none'}"));
		}
		catch (RuntimeException ex) {
			throw new IllegalArgumentException(message(part, LockNameContexts.reason(ex)), ex);
		}
	}

	private String message(Expression part, String reason) {
		return "The lock of %s has no name, so the method was not called: #{%s} in the name '%s' %s"
			.formatted(this.method.describe(), part.getExpressionString(), this.template, reason);
	}

}
