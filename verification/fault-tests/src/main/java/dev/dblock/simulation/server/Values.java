package dev.dblock.simulation.server;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * Order, types and paths of values. A missing value is {@code null}.
 */
final class Values {

	private static final int PATH_NOT_VIABLE = 28;

	/** Types in their order, with the names that a server gives them. */
	private static final Map<BsonType, String> NAMES = Map.ofEntries(Map.entry(BsonType.NULL, "1null"),
			Map.entry(BsonType.INT32, "2int"), Map.entry(BsonType.INT64, "2long"),
			Map.entry(BsonType.DOUBLE, "2double"), Map.entry(BsonType.STRING, "3string"),
			Map.entry(BsonType.DOCUMENT, "4object"), Map.entry(BsonType.ARRAY, "5array"),
			Map.entry(BsonType.BINARY, "6binData"), Map.entry(BsonType.OBJECT_ID, "7objectId"),
			Map.entry(BsonType.BOOLEAN, "8bool"), Map.entry(BsonType.DATE_TIME, "9date"));

	private Values() {
	}

	static IllegalStateException notSimulated(Object what) {
		return new IllegalStateException("not simulated: " + what);
	}

	private static String name(BsonValue value) {
		String name = NAMES.get(value.getBsonType());
		if (name == null) {
			throw notSimulated(value.getBsonType());
		}
		return name;
	}

	static String type(@Nullable BsonValue value) {
		return (value != null) ? name(value).substring(1) : "missing";
	}

	/**
	 * Return the place of a type in the order of all values. All numbers have the same.
	 */
	static int rank(@Nullable BsonValue value) {
		return (value != null) ? name(value).charAt(0) - '0' : 0;
	}

	static int compare(@Nullable BsonValue one, @Nullable BsonValue other) {
		int ranks = Integer.compare(rank(one), rank(other));
		if (ranks != 0 || one == null || other == null || one.isNull()) {
			return ranks;
		}
		if (one.isNumber()) {
			return (one.isDouble() || other.isDouble())
					? Double.compare(one.asNumber().doubleValue(), other.asNumber().doubleValue())
					: Long.compare(one.asNumber().longValue(), other.asNumber().longValue());
		}
		return switch (one.getBsonType()) {
			case STRING -> one.asString().getValue().compareTo(other.asString().getValue());
			case BOOLEAN -> Boolean.compare(one.asBoolean().getValue(), other.asBoolean().getValue());
			case DATE_TIME -> Long.compare(one.asDateTime().getValue(), other.asDateTime().getValue());
			case ARRAY -> compareArrays(one.asArray(), other.asArray());
			case DOCUMENT -> compareDocuments(one.asDocument(), other.asDocument());
			case OBJECT_ID -> one.asObjectId().compareTo(other.asObjectId());
			default -> Arrays.compare(one.asBinary().getData(), other.asBinary().getData());
		};
	}

	private static int compareArrays(List<BsonValue> one, List<BsonValue> other) {
		for (int i = 0; i < Math.min(one.size(), other.size()); i++) {
			int order = compare(one.get(i), other.get(i));
			if (order != 0) {
				return order;
			}
		}
		return Integer.compare(one.size(), other.size());
	}

	private static int compareDocuments(BsonDocument one, BsonDocument other) {
		Iterator<Map.Entry<String, BsonValue>> others = other.entrySet().iterator();
		for (Map.Entry<String, BsonValue> entry : one.entrySet()) {
			if (!others.hasNext()) {
				return 1;
			}
			Map.Entry<String, BsonValue> next = others.next();
			int order = Integer.compare(rank(entry.getValue()), rank(next.getValue()));
			order = (order != 0) ? order : entry.getKey().compareTo(next.getKey());
			order = (order != 0) ? order : compare(entry.getValue(), next.getValue());
			if (order != 0) {
				return order;
			}
		}
		return others.hasNext() ? -1 : 0;
	}

	/**
	 * Return a copy that shares no document with the original.
	 */
	static BsonValue copy(BsonValue value) {
		if (value instanceof BsonDocument document) {
			return copy(document);
		}
		return (value instanceof BsonArray array) ? new BsonArray(array.stream().map(Values::copy).toList()) : value;
	}

	static BsonDocument copy(BsonDocument document) {
		BsonDocument copy = new BsonDocument();
		document.forEach((name, value) -> copy.put(name, copy(value)));
		return copy;
	}

	static Deque<String> path(String path) {
		return new ArrayDeque<>(Arrays.asList(path.split("\\.")));
	}

	/**
	 * Return the value at a path. An array on the way returns the values of its elements.
	 */
	static @Nullable BsonValue get(@Nullable BsonValue from, String path) {
		return get(from, path(path));
	}

	private static @Nullable BsonValue get(@Nullable BsonValue from, Deque<String> path) {
		if (path.isEmpty() || from == null) {
			return from;
		}
		if (from instanceof BsonArray array) {
			BsonArray values = new BsonArray();
			for (BsonValue element : array) {
				BsonValue value = get(element, path);
				if (value != null) {
					values.add(value);
				}
			}
			return values;
		}
		Deque<String> rest = new ArrayDeque<>(path);
		return (from instanceof BsonDocument document) ? get(document.get(rest.remove()), rest) : null;
	}

	/**
	 * Set a value at a path, or remove it.
	 * @param strict whether a value on the way that is no document is an error; otherwise
	 * a document replaces it
	 */
	static void set(BsonDocument in, String path, @Nullable BsonValue value, boolean strict) {
		Deque<String> rest = path(path);
		BsonDocument at = in;
		while (rest.size() > 1) {
			String field = rest.remove();
			BsonValue next = at.get(field);
			if (next instanceof BsonArray) {
				throw strict ? new ServerException(PATH_NOT_VIABLE, "Cannot create a field in an array")
						: notSimulated("a field of an array, " + path);
			}
			if (!(next instanceof BsonDocument)) {
				if (value == null) {
					return;
				}
				if (strict && next != null) {
					throw new ServerException(PATH_NOT_VIABLE, "Cannot create a field in an element");
				}
				next = new BsonDocument();
				at.put(field, next);
			}
			at = next.asDocument();
		}
		if (value != null) {
			at.put(rest.remove(), value);
		}
		else {
			at.remove(rest.remove());
		}
	}

}
