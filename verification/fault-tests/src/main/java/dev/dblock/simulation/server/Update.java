package dev.dblock.simulation.server;

import java.util.Map;

import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDateTime;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * An update by operators, or by a pipeline.
 */
final class Update {

	private static final int FAILED_TO_PARSE = 9;

	private static final int IMMUTABLE_FIELD = 66;

	private final BsonValue update;

	private final long now;

	/**
	 * Create an update.
	 * @param now the value of {@code $$NOW}
	 */
	Update(BsonValue update, long now) {
		this.update = update;
		this.now = now;
	}

	/**
	 * Return the document after the update.
	 * @param clock the time when it is applied
	 */
	BsonDocument apply(BsonDocument before, long clock) {
		BsonDocument after = Values.copy(before);
		if (this.update instanceof BsonArray stages) {
			for (BsonValue stage : stages) {
				after = apply(after, stage.asDocument());
			}
		}
		else {
			for (Map.Entry<String, BsonValue> operator : this.update.asDocument().entrySet()) {
				for (Map.Entry<String, BsonValue> field : operator.getValue().asDocument().entrySet()) {
					apply(after, operator.getKey(), field.getKey(), field.getValue(), clock);
				}
			}
		}
		if (Values.compare(before.get("_id"), after.get("_id")) != 0) {
			throw new ServerException(IMMUTABLE_FIELD, "the (immutable) field '_id' was found to have been altered");
		}
		return after;
	}

	private BsonDocument apply(BsonDocument before, BsonDocument stage) {
		Expression expressions = new Expression(before, this.now);
		if (stage.containsKey("$replaceWith")) {
			return (expressions.evaluate(stage.get("$replaceWith")) instanceof BsonDocument after) ? Values.copy(after)
					: before;
		}
		if (!stage.containsKey("$set")) {
			throw Values.notSimulated("the stage " + stage);
		}
		BsonDocument after = Values.copy(before);
		stage.getDocument("$set").forEach((path, expression) -> {
			if (expression instanceof BsonDocument && !Filter.isOperator(expression)) {
				throw Values.notSimulated("a document at " + path);
			}
			BsonValue value = expressions.evaluate(expression);
			Values.set(after, path, (value != null) ? Values.copy(value) : null, false);
		});
		return after;
	}

	private static void apply(BsonDocument in, String operator, String path, BsonValue operand, long clock) {
		BsonValue before = operator.equals("$set") ? null : Values.get(in, path);
		if (operator.equals("$rename")) {
			if (before != null) {
				Values.set(in, path, null, false);
				Values.set(in, operand.asString().getValue(), before, true);
			}
			return;
		}
		BsonValue after = switch (operator) {
			case "$set" -> Values.copy(operand);
			case "$unset" -> null;
			case "$currentDate" -> date(operand, clock);
			case "$max" -> (before == null || Values.compare(operand, before) > 0) ? operand : before;
			case "$inc" -> (before != null)
					? new BsonInt64(before.asNumber().longValue() + operand.asNumber().longValue()) : operand;
			default -> throw new ServerException(FAILED_TO_PARSE, "Unknown modifier: " + operator);
		};
		Values.set(in, path, after, after != null);
	}

	private static @Nullable BsonValue date(BsonValue operand, long clock) {
		if (!BsonBoolean.TRUE.equals(operand)) {
			throw Values.notSimulated("$currentDate with " + operand);
		}
		return new BsonDateTime(clock);
	}

}
