package dev.dblock.simulation.server;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BinaryOperator;
import java.util.function.LongBinaryOperator;

import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonDouble;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonNumber;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Evaluates expressions on one document. A missing value is {@code null}.
 */
final class Expression {

	private static final int TYPE_MISMATCH = 14;

	private final BsonDocument root;

	private final Map<String, BsonValue> variables;

	/**
	 * Create the expressions of a document.
	 * @param now the value of {@code $$NOW}
	 */
	Expression(BsonDocument root, long now) {
		this(root, Map.of("NOW", new BsonDateTime(now), "ROOT", root));
	}

	private Expression(BsonDocument root, Map<String, BsonValue> variables) {
		this.root = root;
		this.variables = variables;
	}

	@Nullable BsonValue evaluate(@Nullable BsonValue expression) {
		if (expression instanceof BsonString text) {
			return text.getValue().startsWith("$") ? reference(text.getValue().substring(1)) : text;
		}
		if (expression instanceof BsonArray array) {
			return array(array.stream().map(this::evaluate).toList());
		}
		if (!(expression instanceof BsonDocument document)) {
			return expression;
		}
		if (!document.isEmpty() && document.getFirstKey().startsWith("$")) {
			return operator(document.getFirstKey(), document.values().iterator().next());
		}
		BsonDocument result = new BsonDocument();
		document.forEach((name, field) -> {
			BsonValue value = evaluate(field);
			if (value != null) {
				result.put(name, value);
			}
		});
		return result;
	}

	boolean isTrue(@Nullable BsonValue expression) {
		BsonValue value = evaluate(expression);
		return value != null && !value.isNull() && !BsonBoolean.FALSE.equals(value)
				&& !(value instanceof BsonNumber number && number.doubleValue() == 0);
	}

	private @Nullable BsonValue reference(String path) {
		if (!path.startsWith("$")) {
			return Values.get(this.root, path);
		}
		String[] parts = path.substring(1).split("\\.", 2);
		if (!this.variables.containsKey(parts[0]) && !parts[0].equals("REMOVE")) {
			throw new ServerException(17276, "Use of undefined variable: " + parts[0]);
		}
		BsonValue value = this.variables.get(parts[0]);
		return (parts.length == 1) ? value : Values.get(value, parts[1]);
	}

	private static BsonArray array(List<? extends @Nullable BsonValue> values) {
		BsonArray array = new BsonArray();
		values.forEach((value) -> array.add((value != null) ? value : BsonNull.VALUE));
		return array;
	}

	private @Nullable BsonValue operator(String operator, BsonValue operand) {
		List<? extends BsonValue> raw = (operand instanceof BsonArray array) ? array : List.of(operand);
		switch (operator) {
			case "$literal":
				return operand;
			case "$cond":
				return evaluate(raw.get(isTrue(raw.get(0)) ? 1 : 2));
			case "$and":
				return BsonBoolean.valueOf(raw.stream().allMatch(this::isTrue));
			case "$or":
				return BsonBoolean.valueOf(raw.stream().anyMatch(this::isTrue));
			case "$not":
				return BsonBoolean.valueOf(!isTrue(raw.get(0)));
			case "$let":
				return let(operand.asDocument());
			case "$switch":
				return choose(operand.asDocument());
			default:
				List<@Nullable BsonValue> values = new ArrayList<>();
				raw.forEach((value) -> values.add(evaluate(value)));
				return apply(operator, values);
		}
	}

	private @Nullable BsonValue let(BsonDocument operand) {
		Map<String, BsonValue> inner = new HashMap<>(this.variables);
		operand.getDocument("vars").forEach((name, expression) -> inner.put(name, evaluate(expression)));
		return new Expression(this.root, inner).evaluate(operand.get("in"));
	}

	private @Nullable BsonValue choose(BsonDocument operand) {
		for (BsonValue branch : operand.getArray("branches")) {
			if (isTrue(branch.asDocument().get("case"))) {
				return evaluate(branch.asDocument().get("then"));
			}
		}
		return evaluate(operand.get("default"));
	}

	private static @Nullable BsonValue apply(String operator, List<@Nullable BsonValue> values) {
		BsonValue first = values.get(0);
		BsonValue second = (values.size() > 1) ? values.get(1) : null;
		return switch (operator) {
			case "$eq" -> BsonBoolean.valueOf(Values.compare(first, second) == 0);
			case "$ne" -> BsonBoolean.valueOf(Values.compare(first, second) != 0);
			case "$lt" -> BsonBoolean.valueOf(Values.compare(first, second) < 0);
			case "$lte" -> BsonBoolean.valueOf(Values.compare(first, second) <= 0);
			case "$gt" -> BsonBoolean.valueOf(Values.compare(first, second) > 0);
			case "$gte" -> BsonBoolean.valueOf(Values.compare(first, second) >= 0);
			case "$in" -> BsonBoolean.valueOf(required(second, BsonArray.class, 40081).stream()
				.anyMatch((element) -> Values.compare(element, first) == 0));
			case "$type" -> new BsonString(Values.type(first));
			case "$ifNull" -> isNothing(first) ? second : first;
			case "$max" -> greatest(values);
			case "$mergeObjects" -> merge(values);
			case "$concatArrays" -> concatenate(values);
			case "$size" -> new BsonInt32(required(first, BsonArray.class, 17124).size());
			case "$slice" ->
				isNothing(first) ? BsonNull.VALUE : slice(required(first, BsonArray.class, 28724), number(second));
			default -> values.stream().anyMatch(Expression::isNothing) ? BsonNull.VALUE : calculate(operator, values);
		};
	}

	static boolean isNothing(@Nullable BsonValue value) {
		return value == null || value.isNull();
	}

	private static <T> T required(@Nullable BsonValue value, Class<T> type, int code) {
		if (!type.isInstance(value)) {
			throw new ServerException(code,
					"A " + Values.type(value) + " where " + type.getSimpleName() + " is needed");
		}
		return type.cast(value);
	}

	private static int number(@Nullable BsonValue value) {
		return required(value, BsonNumber.class, TYPE_MISMATCH).intValue();
	}

	private static BsonValue greatest(List<@Nullable BsonValue> values) {
		BsonValue greatest = BsonNull.VALUE;
		for (BsonValue value : values) {
			greatest = (value == null || Values.compare(value, greatest) <= 0) ? greatest : value;
		}
		return greatest;
	}

	private static BsonValue merge(List<@Nullable BsonValue> values) {
		BsonDocument merged = new BsonDocument();
		for (BsonValue value : values) {
			if (value != null && !value.isNull()) {
				merged.putAll(required(value, BsonDocument.class, 40400));
			}
		}
		return merged;
	}

	private static BsonValue concatenate(List<@Nullable BsonValue> values) {
		BsonArray all = new BsonArray();
		for (BsonValue value : values) {
			if (value == null || value.isNull()) {
				return BsonNull.VALUE;
			}
			all.addAll(required(value, BsonArray.class, 28664));
		}
		return all;
	}

	/**
	 * Return the first elements of an array, or the last for a negative number.
	 */
	static BsonArray slice(BsonArray array, int number) {
		return new BsonArray((number < 0) ? array.subList(Math.max(0, array.size() + number), array.size())
				: array.subList(0, Math.min(number, array.size())));
	}

	private static BsonValue calculate(String operator, List<@Nullable BsonValue> values) {
		return values.stream().map((value) -> (value != null) ? value : BsonNull.VALUE).reduce(switch (operator) {
			case "$add" -> (a, b) -> add(a, b, 1);
			case "$subtract" -> (a, b) -> add(a, b, -1);
			case "$multiply" -> whole(Math::multiplyExact);
			case "$mod" -> whole((a, b) -> a % b);
			case "$divide" -> (a, b) -> new BsonDouble(
					a.asNumber().doubleValue() / required(b, BsonNumber.class, TYPE_MISMATCH).doubleValue());
			case "$ceil", "$toLong", "$toDate" -> (a, b) -> {
				throw Values.notSimulated(operator + " of several values");
			};
			default -> throw Values.notSimulated(operator);
		}).map((value) -> convert(operator, value)).orElseThrow();
	}

	private static BsonValue convert(String operator, BsonValue value) {
		return switch (operator) {
			case "$ceil" ->
				value.isDouble() ? new BsonDouble(Math.ceil(value.asDouble().getValue())) : value.asNumber();
			case "$toLong" -> new BsonInt64(toLong(value));
			case "$toDate" -> new BsonDateTime(toLong(value));
			default -> value;
		};
	}

	private static long toLong(BsonValue value) {
		return value.isDateTime() ? value.asDateTime().getValue() : value.asNumber().longValue();
	}

	private static BinaryOperator<BsonValue> whole(LongBinaryOperator operator) {
		return (a, b) -> {
			if (a.isDouble() || b.isDouble()) {
				throw Values.notSimulated("a product of fractions");
			}
			return new BsonInt64(operator.applyAsLong(a.asNumber().longValue(), b.asNumber().longValue()));
		};
	}

	/**
	 * Add or subtract. The difference of two dates is a number; a sum with a date is a
	 * date.
	 */
	private static BsonValue add(BsonValue a, BsonValue b, int sign) {
		if (!a.isNumber() && !a.isDateTime() || !b.isNumber() && !b.isDateTime()) {
			throw new ServerException(TYPE_MISMATCH, "only numeric or date types are supported");
		}
		if (a.isDouble() || b.isDouble()) {
			double sum = fraction(a) + sign * fraction(b);
			return (a.isDateTime() || b.isDateTime()) ? new BsonDateTime(Math.round(sum)) : new BsonDouble(sum);
		}
		long sum = toLong(a) + sign * toLong(b);
		boolean date = a.isDateTime() != b.isDateTime();
		if (a.isInt32() && b.isInt32()) {
			return new BsonInt32((int) sum);
		}
		return date ? new BsonDateTime(sum) : new BsonInt64(sum);
	}

	private static double fraction(BsonValue value) {
		return value.isDateTime() ? value.asDateTime().getValue() : value.asNumber().doubleValue();
	}

}
