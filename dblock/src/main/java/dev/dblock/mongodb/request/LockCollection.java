package dev.dblock.mongodb.request;

import com.mongodb.ReadConcern;
import com.mongodb.ReadPreference;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import org.bson.BsonDocument;
import org.bson.codecs.BsonValueCodecProvider;
import org.bson.codecs.ValueCodecProvider;
import org.bson.codecs.configuration.CodecRegistries;
import org.bson.codecs.configuration.CodecRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The lock collection and its database, configured for all requests. Kept between
 * requests: a collection with a new codec registry looks up each codec again, which took
 * longer than all other client-side work for a request.
 */
public final class LockCollection {

	public static final CodecRegistry CODECS = CodecRegistries.fromProviders(new BsonValueCodecProvider(),
			new ValueCodecProvider());

	private final String name;

	private volatile @Nullable Known known;

	public LockCollection(String name) {
		this.name = name;
	}

	public String name() {
		return this.name;
	}

	MongoCollection<BsonDocument> in(MongoDatabase database) {
		return known(database).collection();
	}

	/**
	 * Return the database for commands.
	 */
	MongoDatabase commandsIn(MongoDatabase database) {
		return known(database).commands();
	}

	/**
	 * Return what is known of a database. Each client has its own codec registry, by
	 * which the database of another client is recognized.
	 */
	private Known known(MongoDatabase database) {
		Known last = this.known;
		if (last == null || last.codecs() != database.getCodecRegistry()
				|| !last.database().equals(database.getName())) {
			MongoDatabase commands = database.withCodecRegistry(CODECS);
			last = new Known(database.getName(), database.getCodecRegistry(), commands,
					commands.getCollection(this.name, BsonDocument.class)
						.withWriteConcern(WriteConcern.MAJORITY)
						.withReadConcern(ReadConcern.DEFAULT)
						.withReadPreference(ReadPreference.primary()));
			this.known = last;
		}
		return last;
	}

	/**
	 * Drop the cached objects after a failed request, since they may belong to a client
	 * that was closed.
	 */
	void forget() {
		this.known = null;
	}

	private record Known(String database, CodecRegistry codecs, MongoDatabase commands,
			MongoCollection<BsonDocument> collection) {
	}

}
