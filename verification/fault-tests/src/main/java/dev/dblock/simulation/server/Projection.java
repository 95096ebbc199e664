package dev.dblock.simulation.server;

import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;

/**
 * A projection that includes fields, and adds the values of expressions.
 */
final class Projection {

	private static final BsonInt32 INCLUDED = new BsonInt32(1);

	private static final String SLICE = "$slice";

	private final BsonDocument fields;

	Projection(BsonDocument fields) {
		this.fields = fields;
	}

	BsonDocument apply(BsonDocument document, long now) {
		BsonDocument included = new BsonDocument("_id", INCLUDED);
		this.fields.forEach((path, value) -> {
			if (INCLUDED.equals(value) || isSlice(value)) {
				Values.set(included, path, value, true);
			}
		});
		BsonDocument result = included(document, included);
		Expression expressions = new Expression(document, now);
		this.fields.forEach((path, value) -> {
			if (!INCLUDED.equals(value) && !isSlice(value)) {
				Values.set(result, path, expressions.evaluate(value), true);
			}
		});
		return result;
	}

	private static boolean isSlice(BsonValue value) {
		return value instanceof BsonDocument document && document.containsKey(SLICE)
				&& document.get(SLICE) instanceof BsonInt32;
	}

	private static BsonDocument included(BsonDocument document, BsonDocument tree) {
		BsonDocument result = new BsonDocument();
		document.forEach((name, value) -> {
			BsonValue branch = tree.get(name);
			if (branch != null && isSlice(branch)) {
				result.put(name, (value instanceof BsonArray array)
						? Expression.slice(array, branch.asDocument().getInt32(SLICE).getValue()) : value);
			}
			else if (branch instanceof BsonDocument inner) {
				if (value instanceof BsonDocument from) {
					result.put(name, included(from, inner));
				}
				else if (value instanceof BsonArray array) {
					result.put(name,
							new BsonArray(array.stream()
								.filter(BsonValue::isDocument)
								.map((element) -> included(element.asDocument(), inner))
								.toList()));
				}
			}
			else if (branch != null) {
				result.put(name, value);
			}
		});
		return result;
	}

}
