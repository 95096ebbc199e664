package dev.dblock.annotation.name;

import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanFactory;
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

/**
 * Parses the text of a lock name or of a condition. Resolves {@code ${placeholders}},
 * parses {@code #{…}}, and checks the expressions against the parameters of the method.
 */
public final class LockNameParser {

	private static final ParserContext TEMPLATE = new TemplateParserContext();

	private static final String CONDITION = "condition";

	private final ExpressionParser parser = new SpelExpressionParser();

	private final AttributeValues attributes;

	private final LockNameContexts contexts;

	/**
	 * Create a parser.
	 * @param attributes resolves the text of attributes
	 * @param beanFactory provides the beans in expressions
	 */
	public LockNameParser(AttributeValues attributes, BeanFactory beanFactory) {
		this.attributes = attributes;
		this.contexts = new LockNameContexts(beanFactory);
	}

	/**
	 * Parse a name.
	 * @throws IllegalArgumentException if it cannot result in a name, with the reason
	 */
	public LockName parse(LockedMethod method, String text) {
		if (text.isEmpty()) {
			return new LockName.Constant(method.path());
		}
		String resolved = resolve("name", text);
		if (resolved.indexOf('#') < 0) {
			return new LockName.Constant(resolved);
		}
		Expression expression = expression("name", text, resolved, TEMPLATE);
		List<Expression> parts = (expression instanceof CompositeStringExpression composite)
				? Arrays.asList(composite.getExpressions()) : List.of(expression);
		check(method, text, parts);
		return (expression instanceof LiteralExpression) ? new LockName.Constant(resolved)
				: new EvaluatedLockName(method, resolved, parts, this.contexts);
	}

	/**
	 * Parse a condition.
	 * @return the condition under which a call is locked, or {@code null} if none is
	 * declared. Its test throws an {@link IllegalArgumentException} if it cannot be
	 * evaluated, or is neither true nor false
	 * @throws IllegalArgumentException if it cannot be evaluated, with the reason
	 */
	public @Nullable Predicate<MethodInvocation> parseCondition(LockedMethod method, String text) {
		if (text.isEmpty()) {
			return null;
		}
		String resolved = resolve(CONDITION, text).trim();
		if (resolved.startsWith("#{") && resolved.endsWith("}")) {
			resolved = resolved.substring(2, resolved.length() - 1);
		}
		SpelExpression expression = (SpelExpression) expression(CONDITION, text, resolved, null);
		LockNameReferences references = references(method);
		references.visitCondition(expression);
		refuse(CONDITION, text, references);
		return new LockCondition(method, expression, this.contexts);
	}

	private String resolve(String attribute, String text) {
		String resolved = this.attributes.text("the %s '%s'".formatted(attribute, text), text);
		if (!StringUtils.hasText(resolved)) {
			throw new IllegalArgumentException(
					"the %1$s '%2$s' is blank after its placeholders are resolved; set a %1$s, or omit it"
						.formatted(attribute, text));
		}
		return resolved;
	}

	private Expression expression(String attribute, String text, String resolved, @Nullable ParserContext context) {
		try {
			return (context != null) ? this.parser.parseExpression(resolved, context)
					: this.parser.parseExpression(resolved);
		}
		catch (ParseException | IllegalStateException ex) {
			throw new IllegalArgumentException("the %s '%s' has an expression that cannot be parsed: %s"
				.formatted(attribute, text, ex.getMessage()), ex);
		}
	}

	private void check(LockedMethod method, String text, List<Expression> parts) {
		LockNameReferences references = references(method);
		for (Expression part : parts) {
			if (part instanceof SpelExpression expression) {
				references.visit(expression);
			}
			else {
				references.visitText(part.getExpressionString());
			}
		}
		refuse("name", text, references);
	}

	private LockNameReferences references(LockedMethod method) {
		return new LockNameReferences(method, this.contexts.parameters(method), this.contexts::hasBean);
	}

	private static void refuse(String attribute, String text, LockNameReferences references) {
		if (!references.problems().isEmpty()) {
			throw new IllegalArgumentException("the %s '%s' cannot be evaluated: %s".formatted(attribute, text,
					String.join("; ", references.problems())));
		}
	}

}
