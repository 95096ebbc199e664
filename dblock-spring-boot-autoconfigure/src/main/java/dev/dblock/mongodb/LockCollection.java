package dev.dblock.mongodb;

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
 * The collection of the locks, set up as all requests need it. Kept from one request to
 * the next: a collection that is given a registry of codecs looks up each of them anew,
 * which took longer than everything else that is done here for a request.
 */
final class LockCollection {

	static final CodecRegistry CODECS = CodecRegistries.fromProviders(new BsonValueCodecProvider(),
			new ValueCodecProvider());

	private final String name;

	private volatile @Nullable Known known;

	LockCollection(String name) {
		this.name = name;
	}

	String name() {
		return this.name;
	}

	/**
	 * The collection in a database. Each client has a registry of codecs of its own, so
	 * the database of another client is noticed by it.
	 */
	MongoCollection<BsonDocument> in(MongoDatabase database) {
		Known last = this.known;
		if (last != null && last.codecs == database.getCodecRegistry() && last.database.equals(database.getName())) {
			return last.collection;
		}
		MongoCollection<BsonDocument> collection = database.getCollection(this.name, BsonDocument.class)
			.withCodecRegistry(CODECS)
			.withWriteConcern(WriteConcern.MAJORITY)
			.withReadConcern(ReadConcern.DEFAULT)
			.withReadPreference(ReadPreference.primary());
		this.known = new Known(database.getName(), database.getCodecRegistry(), collection);
		return collection;
	}

	/**
	 * Set it up anew: a request failed, and what is kept may be a client's that was
	 * closed.
	 */
	void forget() {
		this.known = null;
	}

	private record Known(String database, CodecRegistry codecs, MongoCollection<BsonDocument> collection) {
	}

}
