package dev.dblock.simulation.server;

import java.util.List;
import java.util.Map;

import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Selects documents by a query.
 */
final class Filter {

	private final BsonDocument query;

	private final long now;

	Filter(BsonDocument query, long now) {
		this.query = query;
		this.now = now;
	}

	boolean matches(BsonDocument document) {
		return matches(document, this.query);
	}

	private boolean matches(BsonDocument document, BsonDocument query) {
		return query.entrySet().stream().allMatch((condition) -> switch (condition.getKey()) {
			case "$expr" -> new Expression(document, this.now).isTrue(condition.getValue());
			case "$or" -> condition.getValue()
				.asArray()
				.stream()
				.anyMatch((alternative) -> matches(document, alternative.asDocument()));
			default -> matches(Values.get(document, condition.getKey()), condition.getValue());
		});
	}

	private static boolean matches(@Nullable BsonValue value, BsonValue condition) {
		if (!isOperator(condition)) {
			return isEqual(value, condition);
		}
		return condition.asDocument().entrySet().stream().allMatch((operator) -> matches(value, operator));
	}

	static boolean isOperator(BsonValue condition) {
		return condition instanceof BsonDocument document && !document.isEmpty()
				&& document.getFirstKey().startsWith("$");
	}

	private static boolean matches(@Nullable BsonValue value, Map.Entry<String, BsonValue> operator) {
		BsonValue operand = operator.getValue();
		int order = Values.compare(value, operand);
		boolean comparable = Values.rank(value) == Values.rank(operand);
		return switch (operator.getKey()) {
			case "$ne" -> !isEqual(value, operand);
			case "$in" -> operand.asArray().stream().anyMatch((element) -> isEqual(value, element));
			case "$exists" -> BsonBoolean.TRUE.equals(operand) == (value != null);
			case "$type" -> Values.type(value).equals(operand.asString().getValue());
			case "$gt" -> comparable && order > 0;
			case "$gte" -> comparable && order >= 0;
			case "$lt" -> comparable && order < 0;
			case "$lte" -> comparable && order <= 0;
			default -> throw Values.notSimulated("the condition " + operator);
		};
	}

	private static boolean isEqual(@Nullable BsonValue value, BsonValue wanted) {
		List<BsonValue> elements = (value instanceof BsonArray array) ? array : List.of();
		return Values.compare((value != null) ? value : BsonNull.VALUE, wanted) == 0
				|| elements.stream().anyMatch((element) -> Values.compare(element, wanted) == 0);
	}

	/**
	 * Return the document that an upsert begins with, which has the values that the query
	 * compares for equality.
	 */
	BsonDocument asDocument() {
		BsonDocument document = new BsonDocument();
		this.query.forEach((path, value) -> {
			if (path.startsWith("$")) {
				throw Values.notSimulated("an upsert with the query " + this.query);
			}
			if (isOperator(value)) {
				return;
			}
			Values.set(document, path, Values.copy(value), true);
		});
		return document;
	}

}
