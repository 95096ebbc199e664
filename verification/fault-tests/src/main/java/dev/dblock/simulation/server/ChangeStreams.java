package dev.dblock.simulation.server;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * The last changes of a server, and the cursors that read them.
 */
final class ChangeStreams {

	private static final int CURSOR_NOT_FOUND = 43;

	private static final int HISTORY_LOST = 286;

	private static final int KEPT = 500;

	private static final String RESUME_AFTER = "resumeAfter";

	private final List<Event> events = new ArrayList<>();

	private final Map<Long, Cursor> cursors = new HashMap<>();

	/** The number of the first event that is kept. */
	private long first = 1;

	private long cursorCount = 1;

	/**
	 * Record a change.
	 * @param replaces whether it may be reported as a replacement, as that of a pipeline
	 * that changes much
	 */
	void add(String collection, @Nullable BsonDocument before, @Nullable BsonDocument after, boolean replaces) {
		BsonDocument event = new BsonDocument();
		BsonDocument updated = new BsonDocument();
		if (before != null && after != null) {
			after.forEach((name, value) -> {
				if (!value.equals(before.get(name))) {
					updated.put(name, value);
				}
			});
		}
		boolean replaced = replaces && updated.size() * 2 > ((after != null) ? after.size() : 0);
		event.put("operationType", new BsonString(
				(before == null) ? "insert" : (after == null) ? "delete" : replaced ? "replace" : "update"));
		BsonDocument key = (after != null) ? after : before;
		if (key != null) {
			event.put("documentKey", new BsonDocument("_id", key.get("_id")));
		}
		if (after != null && (before == null || replaced)) {
			event.put("fullDocument", after);
		}
		else if (after != null) {
			event.put("updateDescription", new BsonDocument("updatedFields", updated));
		}
		this.events.add(new Event(collection, event));
		if (this.events.size() > KEPT) {
			this.events.remove(0);
			this.first++;
		}
	}

	private long next() {
		return this.first + this.events.size();
	}

	BsonDocument open(String collection, BsonDocument command) {
		BsonArray pipeline = command.getArray("pipeline");
		BsonDocument options = pipeline.get(0).asDocument().getDocument("$changeStream");
		long from = options.containsKey(RESUME_AFTER) ? position(options.getDocument(RESUME_AFTER)) + 1 : next();
		if (from < this.first) {
			throw new ServerException(HISTORY_LOST, "Resume of change stream was not possible");
		}
		long id = ++this.cursorCount;
		Cursor cursor = new Cursor(collection, pipeline.get(1).asDocument().getDocument("$match"),
				pipeline.get(2).asDocument().getDocument("$project"));
		cursor.position = from;
		this.cursors.put(id, cursor);
		return answer(id, cursor, new BsonArray());
	}

	private static long position(BsonDocument token) {
		return Long.parseLong(token.getString("_data").getValue());
	}

	private static BsonDocument token(long position) {
		return new BsonDocument("_data", new BsonString(Long.toString(position)));
	}

	private static BsonDocument answer(long id, Cursor cursor, BsonArray batch) {
		return new BsonDocument("id", new BsonInt64(id)).append("batch", batch)
			.append("token", token(cursor.position - 1));
	}

	boolean hasChanges(long id) {
		Cursor cursor = this.cursors.get(id);
		if (cursor == null || cursor.position < this.first) {
			return true;
		}
		while (cursor.position < next() && !cursor.selects(event(cursor.position))) {
			cursor.position++;
		}
		return cursor.position < next();
	}

	private Event event(long position) {
		return this.events.get((int) (position - this.first));
	}

	BsonDocument next(BsonDocument getMore, long now) {
		long id = getMore.getInt64("getMore").getValue();
		Cursor cursor = this.cursors.get(id);
		if (cursor == null) {
			throw new ServerException(CURSOR_NOT_FOUND, "cursor id " + id + " not found");
		}
		if (cursor.position < this.first) {
			throw new ServerException(HISTORY_LOST, "The history was lost");
		}
		BsonArray batch = new BsonArray();
		for (; cursor.position < next(); cursor.position++) {
			Event event = event(cursor.position);
			if (cursor.selects(event)) {
				BsonDocument whole = new BsonDocument("_id", token(cursor.position));
				whole.putAll(event.document());
				batch.add(Values.copy(new Projection(cursor.projection).apply(whole, now)));
			}
		}
		return answer(id, cursor, batch);
	}

	BsonDocument close(BsonDocument killCursors) {
		for (BsonValue id : killCursors.getArray("cursors")) {
			this.cursors.remove(id.asInt64().getValue());
		}
		return new BsonDocument();
	}

	void killCursors() {
		this.cursors.clear();
	}

	private record Event(String collection, BsonDocument document) {
	}

	private static final class Cursor {

		private final String collection;

		private final Filter filter;

		private final BsonDocument projection;

		/** The number of the next event. */
		private long position;

		Cursor(String collection, BsonDocument match, BsonDocument projection) {
			this.collection = collection;
			this.filter = new Filter(match, 0);
			this.projection = projection;
		}

		boolean selects(Event event) {
			return event.collection().equals(this.collection) && this.filter.matches(event.document());
		}

	}

}
