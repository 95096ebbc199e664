package dev.dblock.simulation.server;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

import org.bson.BsonDocument;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * A transaction of a server: the documents as they were at its begin, with its own
 * changes.
 */
final class Transaction {

	private static final int WRITE_CONFLICT = 112;

	private final Map<String, Map<BsonValue, BsonDocument>> documents = new LinkedHashMap<>();

	private final Map<Id, BsonDocument> written = new LinkedHashMap<>();

	private final long endsAt;

	private boolean ended;

	/**
	 * Begin a transaction.
	 * @param endsAt when the server aborts it
	 */
	Transaction(Map<String, Map<BsonValue, BsonDocument>> snapshot, long endsAt) {
		snapshot.forEach((collection, all) -> this.documents.put(collection, new LinkedHashMap<>(all)));
		this.endsAt = endsAt;
	}

	Map<BsonValue, BsonDocument> documents(String collection) {
		return this.documents.getOrDefault(collection, Map.of());
	}

	/**
	 * Change a document.
	 * @param latest the document outside of this transaction
	 */
	void write(Id id, BsonDocument after, @Nullable BsonDocument latest) {
		Map<BsonValue, BsonDocument> all = this.documents.computeIfAbsent(id.collection(),
				(name) -> new LinkedHashMap<>());
		// No document ever becomes again what it was
		if (this.written.put(id, after) == null && !Objects.equals(all.get(id.id()), latest)) {
			throw conflict();
		}
		all.put(id.id(), after);
	}

	static ServerException conflict() {
		return new ServerException(WRITE_CONFLICT, "Write conflict during plan execution");
	}

	Map<Id, BsonDocument> written() {
		return this.written;
	}

	boolean isOpen(long now) {
		return !this.ended && now < this.endsAt;
	}

	void end() {
		this.ended = true;
	}

	/**
	 * The place of a document.
	 */
	record Id(String collection, BsonValue id) {
	}

}
