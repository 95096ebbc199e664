package dev.dblock.mongodb.request;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import org.bson.BsonDocument;
import org.bson.codecs.configuration.CodecRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The lock collection, or that of the fences, and its database, configured for all
 * requests. Kept between requests: a collection with a new codec registry looks up each
 * codec again, which took longer than all other client-side work for a request.
 */
final class LockCollection {

	private final String name;

	private volatile @Nullable Known<MongoCollection<BsonDocument>> collection;

	private volatile @Nullable Known<MongoDatabase> commands;

	private volatile @Nullable LockCollection other;

	LockCollection(String name) {
		this.name = name;
	}

	String name() {
		return this.name;
	}

	/**
	 * Return another collection of the same database. The last one is kept.
	 */
	LockCollection other(String name) {
		LockCollection last = this.other;
		if (last == null || !last.name.equals(name)) {
			last = new LockCollection(name);
			this.other = last;
		}
		return last;
	}

	/**
	 * Return the collection in a database. Each client has its own codec registry, by
	 * which the database of another client is recognized.
	 */
	MongoCollection<BsonDocument> in(MongoDatabase database) {
		Known<MongoCollection<BsonDocument>> last = this.collection;
		if (last != null && last.isOf(database)) {
			return last.value;
		}
		MongoCollection<BsonDocument> collection = database.getCollection(this.name, BsonDocument.class)
			.withCodecRegistry(BsonParts.CODECS)
			.withWriteConcern(WriteConcern.MAJORITY)
			.withReadConcern(ReadConcern.DEFAULT)
			.withReadPreference(ReadPreference.primary());
		this.collection = Known.of(database, collection);
		return collection;
	}

	/**
	 * Return the database for commands.
	 */
	MongoDatabase commandsIn(MongoDatabase database) {
		Known<MongoDatabase> last = this.commands;
		if (last != null && last.isOf(database)) {
			return last.value;
		}
		MongoDatabase commands = database.withCodecRegistry(BsonParts.CODECS);
		this.commands = Known.of(database, commands);
		return commands;
	}

	/**
	 * Drop the cached objects after a failed request, since they may belong to a client
	 * that was closed.
	 */
	void forget() {
		this.collection = null;
		this.commands = null;
	}

	private record Known<T>(String database, CodecRegistry codecs, T value) {

		static <T> Known<T> of(MongoDatabase database, T value) {
			return new Known<>(database.getName(), database.getCodecRegistry(), value);
		}

		boolean isOf(MongoDatabase other) {
			return this.codecs == other.getCodecRegistry() && this.database.equals(other.getName());
		}

	}

}
