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
 * Evaluates one part of a name for one call. No value may be missing: neither the part as
 * a whole, nor an operand of {@code +}, nor an element of a collection.
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
	 * @throws MissingException if it concatenates text with a missing value
	 */
	@Nullable Object value(SpelExpression expression) {
		ExpressionState state = new ExpressionState(this.context, this.context.getRootObject(), CONFIGURATION);
		return value(expression.getAST(), state).getValue();
	}

	// SpEL itself renders an operand that is null as "null"
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
	 * Convert a value to text.
	 * @throws MissingException if the value is null, empty, or has a missing element
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
	 * Convert a value by the conversion service. A value that Spring does not convert is
	 * refused, since its {@code toString()} may differ between instances: the elements of
	 * a map have no fixed order, an address may or may not have resolved its host name,
	 * and the text of an entity may contain fields that change. The expression has to
	 * select a property instead.
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
			throw new EvaluationException(("a %s is not converted to text, because its toString() may differ from"
					+ " instance to instance; use one of its properties, or call its toString() in the expression if"
					+ " it returns the same text everywhere")
				.formatted(value.getClass().getName()), ex);
		}
	}

	private static void refuseThatOfObject(String text, Object value) {
		if (isThatOfObject(text, value)) {
			throw new EvaluationException(("a %s has no toString() of its own, and that of java.lang.Object differs"
					+ " from instance to instance; use one of its properties")
				.formatted(value.getClass().getName()));
		}
	}

	// For types that can be created from a String, Spring's conversion calls toString()
	private static boolean isThatOfObject(String text, Object value) {
		return text.indexOf('@') > 0
				&& text.equals(value.getClass().getName() + "@" + Integer.toHexString(value.hashCode()));
	}

	// Sets are equal regardless of their order, which differs between processes
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
	 * Thrown for a value without text. The message is the predicate of a sentence.
	 */
	static final class MissingException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		MissingException(String message) {
			super(message);
		}

	}

	/**
	 * An operand that is evaluated already.
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
