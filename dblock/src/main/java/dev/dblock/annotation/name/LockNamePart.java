package dev.dblock.annotation.name;

import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.convert.ConverterNotFoundException;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.TypedValue;
import org.springframework.expression.spel.ExpressionState;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.SpelParserConfiguration;
import org.springframework.expression.spel.ast.OpPlus;
import org.springframework.expression.spel.ast.SpelNodeImpl;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * One part of a name in one call. Nothing in it may be missing: neither the part as a
 * whole, nor what a {@code +} joins, nor an element of a collection.
 */
final class LockNamePart {

	private static final TypeDescriptor STRING = TypeDescriptor.valueOf(String.class);

	private static final SpelParserConfiguration CONFIGURATION = new SpelParserConfiguration();

	private final EvaluationContext context;

	LockNamePart(EvaluationContext context) {
		this.context = context;
	}

	/**
	 * Evaluate an expression.
	 * @throws MissingException when it joins text with nothing
	 */
	@Nullable Object value(SpelExpression expression) {
		ExpressionState state = new ExpressionState(this.context, this.context.getRootObject(), CONFIGURATION);
		return value(expression.getAST(), state).getValue();
	}

	// SpEL itself writes "null" for an operand that is null
	private TypedValue value(SpelNode node, ExpressionState state) {
		if (!isSum(node)) {
			return node.getTypedValue(state);
		}
		TypedValue left = value(node.getChild(0), state);
		TypedValue right = value(node.getChild(1), state);
		if (left.getValue() instanceof String || right.getValue() instanceof String) {
			return new TypedValue(operand(node.getChild(0), left) + operand(node.getChild(1), right));
		}
		return new OpPlus(node.getStartPosition(), node.getEndPosition(), new Known(left), new Known(right))
			.getValueInternal(state);
	}

	static boolean isSum(SpelNode node) {
		return node instanceof OpPlus && node.getChildCount() == 2;
	}

	private String operand(SpelNode node, TypedValue value) {
		try {
			return text(value.getValue());
		}
		catch (MissingException ex) {
			throw new MissingException("joins text with %s, which %s".formatted(node.toStringAST(), ex.getMessage()));
		}
	}

	/**
	 * Make text of a value.
	 * @throws MissingException when there is none
	 */
	String text(@Nullable Object value) {
		if (value instanceof Optional<?> optional) {
			return text(optional.orElse(null));
		}
		String text = plain(value);
		if (text == null || text.isEmpty()) {
			throw new MissingException((text != null) ? "is empty" : "is null");
		}
		return text;
	}

	private @Nullable String plain(@Nullable Object value) {
		if (value instanceof String text) {
			return text;
		}
		if (value instanceof Object[] array) {
			return elements(Arrays.asList(array));
		}
		if (value instanceof Collection<?> collection) {
			return elements(collection);
		}
		String text = converted(value);
		if (value != null && text != null) {
			refuseThatOfObject(text, value);
		}
		return text;
	}

	/**
	 * Not everything that has a text is the same wherever that text is: a map has its
	 * elements in some order, an address may have looked up its name, and an entity's
	 * text has what changes in it. So what Spring does not convert is left to the
	 * expression.
	 */
	private @Nullable String converted(@Nullable Object value) {
		try {
			return (String) this.context.getTypeConverter()
				.convertValue(value, TypeDescriptor.forObject(value), STRING);
		}
		catch (EvaluationException ex) {
			if (value == null || !(ex.getCause() instanceof ConverterNotFoundException)) {
				throw ex;
			}
			refuseThatOfObject(value.toString(), value);
			throw new EvaluationException(("a %s is not made into text by itself, since its toString() may differ from"
					+ " instance to instance; name one of its properties, or call its toString() in the expression if"
					+ " it says the same everywhere")
				.formatted(value.getClass().getName()), ex);
		}
	}

	private static void refuseThatOfObject(String text, Object value) {
		if (isThatOfObject(text, value)) {
			throw new EvaluationException(("a %s has no text of its own, and the one of java.lang.Object differs from"
					+ " instance to instance; name one of its properties")
				.formatted(value.getClass().getName()));
		}
	}

	// Spring converts whatever could be made from text, by what its toString() says
	private static boolean isThatOfObject(String text, Object value) {
		return text.indexOf('@') > 0
				&& text.equals(value.getClass().getName() + "@" + Integer.toHexString(value.hashCode()));
	}

	// Sets are equal in whatever order, which differs from process to process
	private String elements(Collection<?> elements) {
		Stream<String> texts = elements.stream().map(this::element);
		boolean ordered = elements instanceof List || elements instanceof Queue;
		return (ordered ? texts : texts.sorted()).collect(Collectors.joining(","));
	}

	private String element(@Nullable Object element) {
		try {
			return text(element);
		}
		catch (MissingException ex) {
			throw new MissingException("has an element that " + ex.getMessage());
		}
	}

	/**
	 * Something has no text; the message is the rest of a sentence.
	 */
	static final class MissingException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		MissingException(String message) {
			super(message);
		}

	}

	/**
	 * An operand that need not be evaluated again.
	 */
	private static final class Known extends SpelNodeImpl {

		private final TypedValue value;

		Known(TypedValue value) {
			super(0, 0);
			this.value = value;
		}

		@Override
		public TypedValue getValueInternal(ExpressionState state) {
			return this.value;
		}

		@Override
		public String toStringAST() {
			return String.valueOf(this.value.getValue());
		}

	}

}
