package dev.dblock.interceptor;

import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.expression.Expression;
import org.springframework.expression.ExpressionParser;
import org.springframework.expression.ParseException;
import org.springframework.expression.ParserContext;
import org.springframework.expression.common.CompositeStringExpression;
import org.springframework.expression.common.LiteralExpression;
import org.springframework.expression.common.TemplateParserContext;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;
import org.springframework.util.StringUtils;
import org.springframework.util.StringValueResolver;

/**
 * Takes the text of a name apart: {@code ${placeholders}} are resolved, {@code #{…}} is
 * parsed and checked against the parameters of the method.
 */
final class LockNameParser {

	private static final ParserContext TEMPLATE = new TemplateParserContext();

	private final ExpressionParser parser = new SpelExpressionParser();

	private final StringValueResolver placeholders;

	private final LockNameContexts contexts;

	LockNameParser(StringValueResolver placeholders, LockNameContexts contexts) {
		this.placeholders = placeholders;
		this.contexts = contexts;
	}

	/**
	 * Parse a name.
	 * @throws IllegalArgumentException when it cannot give a name, with the reason
	 */
	LockName parse(LockedMethod method, String text) {
		if (text.isEmpty()) {
			return new LockName.Constant(method.path());
		}
		String resolved = resolve(text);
		Expression expression = expression(text, resolved);
		if (expression instanceof LiteralExpression) {
			return new LockName.Constant(resolved);
		}
		List<Expression> parts = (expression instanceof CompositeStringExpression composite)
				? Arrays.asList(composite.getExpressions()) : List.of(expression);
		check(method, text, parts);
		return new EvaluatedLockName(method, resolved, parts, this.contexts);
	}

	private String resolve(String text) {
		String resolved = resolvePlaceholders(text);
		if (!StringUtils.hasText(resolved)) {
			throw new IllegalArgumentException(
					"the name '%s' is blank once its placeholders are resolved; give a name, or leave it out"
						.formatted(text));
		}
		// Without a configurer of placeholders Spring leaves those that it does not know
		// as they are
		if (resolved.contains("${")) {
			throw new IllegalArgumentException(unresolved(text, "'" + resolved + "'"));
		}
		return resolved;
	}

	private @Nullable String resolvePlaceholders(String text) {
		try {
			return this.placeholders.resolveStringValue(text);
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(unresolved(text, String.valueOf(ex.getMessage())), ex);
		}
	}

	private static String unresolved(String text, String reason) {
		return ("the name '%s' has a placeholder that cannot be resolved: %s; set the property, or give it a default"
				+ " as in ${key:default}")
			.formatted(text, reason);
	}

	private Expression expression(String text, String resolved) {
		try {
			return this.parser.parseExpression(resolved, TEMPLATE);
		}
		catch (ParseException | IllegalStateException ex) {
			throw new IllegalArgumentException(
					"the name '%s' has an expression that cannot be parsed: %s".formatted(text, ex.getMessage()), ex);
		}
	}

	private void check(LockedMethod method, String text, List<Expression> parts) {
		LockNameReferences references = new LockNameReferences(method.method().getParameterCount(),
				this.contexts.parameterNames(method));
		for (Expression part : parts) {
			if (part instanceof SpelExpression expression) {
				references.visit(expression);
			}
		}
		if (!references.problems().isEmpty()) {
			throw new IllegalArgumentException(
					"the name '%s' cannot be evaluated: %s".formatted(text, String.join("; ", references.problems())));
		}
	}

}
