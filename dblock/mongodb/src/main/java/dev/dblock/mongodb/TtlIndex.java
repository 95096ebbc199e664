package dev.dblock.mongodb;

import java.time.Duration;
import java.util.function.LongSupplier;

import com.mongodb.MongoException;
import dev.dblock.mongodb.request.FailureTranslation;
import dev.dblock.mongodb.request.LockDocument;
import dev.dblock.mongodb.request.StoreRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The index that removes old documents of locks. Ensured when a lock is acquired. Locks
 * work without it.
 */
final class TtlIndex extends EnsuredIndex {

	private static final Logger logger = LoggerFactory.getLogger(TtlIndex.class);

	private volatile boolean capped;

	TtlIndex(boolean enabled, LongSupplier nanoTime) {
		super(LockDocument.CLEAN_UP_AT, Duration.ZERO, enabled, nanoTime);
	}

	/**
	 * Create the index if that is due; otherwise send no request.
	 * @param store the store
	 * @param limit the maximum time
	 * @throws MongoException if the failure shows that the collection cannot keep locks
	 */
	void ensureIndex(StoreRequest store, Duration limit) {
		boolean due = claim() || this.capped;
		MongoException failure = due ? createIndex(store.part(limit)) : null;
		if (due) {
			this.capped = failure != null && FailureTranslation.isCapped(failure);
		}
		if (failure != null && this.capped) {
			throw failure;
		}
		if (failure != null && isFirstFailure()) {
			logger.warn("The index that removes old documents from '{}.{}' could not be created ({}). The locks work"
					+ " without it; the documents of names that are no longer used remain. {}, or run"
					+ " db.getSiblingDB('{}').getCollection('{}').createIndex({cleanUpAt: 1}, {expireAfterSeconds:"
					+ " 0}) once, or set dblock.mongodb.create-indexes=false", store.databaseName(),
					store.collectionName(), FailureTranslation.summary(failure),
					FailureTranslation.adviceOnIndex(failure), store.databaseName(), store.collectionName());
		}
	}

}
