package dev.dblock.mongodb;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

import com.mongodb.MongoException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.client.model.IndexOptions;
import dev.dblock.mongodb.request.FailureTranslation;
import dev.dblock.mongodb.request.LockDocument;
import dev.dblock.mongodb.request.StoreRequest;
import org.bson.BsonInt32;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static dev.dblock.mongodb.request.BsonParts.doc;

/**
 * The index that removes old documents. Created at the first acquire, and ensured again
 * every ten minutes. Locks work without it. A failure to create it is logged once for
 * each collection, until the creation succeeds.
 */
final class TtlIndex {

	private static final Logger logger = LoggerFactory.getLogger(TtlIndex.class);

	private final boolean enabled;

	private final IndexTimes times;

	private final AtomicBoolean warned = new AtomicBoolean();

	TtlIndex(boolean enabled, LongSupplier nanoTime) {
		this.enabled = enabled;
		this.times = new IndexTimes(nanoTime);
	}

	/**
	 * Create the index if that is due; otherwise send no request.
	 * @param store the store
	 * @param limit the maximum time
	 */
	void ensureIndex(StoreRequest store, Duration limit) {
		if (this.enabled && this.times.isDue() && this.times.claim()) {
			create(store.part(limit));
		}
	}

	private void create(StoreRequest store) {
		try {
			store.collection()
				.createIndex(doc(LockDocument.CLEAN_UP_AT, new BsonInt32(1)),
						new IndexOptions().expireAfter(0L, TimeUnit.SECONDS));
			// A later failure is logged again
			this.warned.set(false);
		}
		catch (MongoInterruptedException ex) {
			this.times.failed();
			throw ex;
		}
		catch (MongoException ex) {
			this.times.failed();
			warn(store, ex);
		}
	}

	private void warn(StoreRequest store, MongoException ex) {
		if (this.warned.compareAndSet(false, true)) {
			logger.warn("The index that removes old documents from '{}.{}' could not be created ({}). The locks work"
					+ " without it; the documents of names that are no longer used remain. {}, or run"
					+ " db.getSiblingDB('{}').getCollection('{}').createIndex({cleanUpAt: 1}, {expireAfterSeconds:"
					+ " 0}) once, or set dblock.mongodb.create-indexes=false", store.databaseName(),
					store.collectionName(), FailureTranslation.summary(ex), FailureTranslation.adviceOnIndex(ex),
					store.databaseName(), store.collectionName());
		}
	}

}
