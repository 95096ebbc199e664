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
 * Refuses capped collections. Once a capped collection is full, the server removes its
 * oldest documents, including those of held locks, so that another instance could acquire
 * them as well. The check runs once, before the first acquire. It reads the metadata of
 * the collections and no documents, so its cost does not depend on the number of locks.
 */
final class CappedCollections {

	private static final Logger logger = LoggerFactory.getLogger(CappedCollections.class);

	private final List<String> names;

	private volatile boolean noneIsCapped;

	CappedCollections(List<String> names) {
		this.names = names;
	}

	/**
	 * Refuse a capped collection. Sends no request if an earlier check has found none.
	 * @param store the store
	 * @throws InvalidDataAccessResourceUsageException if a collection is capped
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
		// Some servers ignore the filter
		if (this.names.contains(name) && BsonBoolean.TRUE.equals(options.get("capped"))) {
			throw new InvalidDataAccessResourceUsageException(
					("The collection '%s' is capped: once it is full, MongoDB removes the documents of locks that are"
							+ " held, and others could acquire them too. No lock is acquired there. Set"
							+ " dblock.mongodb.collection to another name in every instance, or drop the collection"
							+ " while no instance runs; it is created again")
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
			// A missing privilege to list collections is no reason to refuse locks
			logger.debug("It is unknown whether the collection '{}' is capped", store.collectionName(), ex);
			return new BsonArray();
		}
	}

}
