package dev.dblock.mongodb;

import java.util.List;

import com.mongodb.MongoCommandException;
import dev.dblock.mongodb.request.StoreRequest;
import org.bson.BsonArray;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.InvalidDataAccessResourceUsageException;

import static dev.dblock.mongodb.request.BsonParts.doc;

/**
 * Refuses collections that are capped: once such a one is full, the server removes the
 * oldest documents, that of a held lock among them, and would grant the lock to somebody
 * else as well. Looked at once, before the first acquire; what is looked at is no
 * document, so that it costs the same however many locks there are.
 */
final class CappedCollections {

	private static final Logger logger = LoggerFactory.getLogger(CappedCollections.class);

	private final List<String> names;

	private volatile boolean noneIsCapped;

	CappedCollections(List<String> names) {
		this.names = names;
	}

	/**
	 * Refuse a capped collection, or cost nothing where none was found before.
	 * @param store the store
	 * @throws InvalidDataAccessResourceUsageException when one is capped
	 */
	void refuse(StoreRequest store) {
		if (!this.noneIsCapped) {
			for (BsonValue collection : list(store)) {
				refuse(collection.asDocument());
			}
			this.noneIsCapped = true;
		}
	}

	private void refuse(BsonDocument collection) {
		String name = collection.getString("name").getValue();
		BsonDocument options = collection.getDocument("options", new BsonDocument());
		// A server may know no filter
		if (this.names.contains(name) && BsonBoolean.TRUE.equals(options.get("capped"))) {
			throw new InvalidDataAccessResourceUsageException(
					("The collection '%s' is capped: once it is full, MongoDB removes the documents of locks that are held, "
							+ "and others would get them too. No lock is taken there. Set dblock.mongodb.collection to "
							+ "another name in every instance, or drop the collection while none of them runs; it is made anew")
						.formatted(name));
		}
	}

	private BsonArray list(StoreRequest store) {
		BsonValue wanted = new BsonArray(this.names.stream().map(BsonString::new).toList());
		BsonDocument command = doc("listCollections", new BsonInt32(1)).append("filter",
				doc("name", doc("$in", wanted)));
		try {
			return store.command(command).getDocument("cursor").getArray("firstBatch");
		}
		catch (MongoCommandException ex) {
			// Without that right, too, locks are to be had
			logger.debug("Nobody says whether the collection '{}' is capped", store.collectionName(), ex);
			return new BsonArray();
		}
	}

}
