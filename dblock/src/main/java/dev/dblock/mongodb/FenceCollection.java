package dev.dblock.mongodb;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

import com.mongodb.MongoException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.client.model.IndexOptions;
import dev.dblock.mongodb.request.FailureTranslation;
import dev.dblock.mongodb.request.LockCollection;
import dev.dblock.mongodb.request.LockDocument;
import dev.dblock.mongodb.request.StoreRequest;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static dev.dblock.mongodb.request.BsonParts.doc;

/**
 * The collection of the fences, and its index that removes old ones. Both are ensured
 * before the first transaction, before fences are raised, and, if the application's own
 * sessions are fenced, before a lock is acquired. Each time, requests are sent only if
 * they are due; see {@link IndexTimes}. A failure is logged once, until the creation
 * succeeds.
 */
final class FenceCollection {

	private static final Logger logger = LoggerFactory.getLogger(FenceCollection.class);

	private static final int NAMESPACE_EXISTS = 48;

	/** At most half of the request's time, which leaves some for the collection alone. */
	private static final Duration LONGEST = Duration.ofMinutes(1);

	private final LockCollection collection;

	private final boolean enabled;

	private final IndexTimes times;

	private final AtomicBoolean warned = new AtomicBoolean();

	FenceCollection(LockCollection collection, boolean enabled, LongSupplier nanoTime) {
		this.collection = collection;
		this.enabled = enabled;
		this.times = new IndexTimes(nanoTime);
	}

	/**
	 * Create the index if that is due; otherwise send no request. The creation of a
	 * missing index waits for transactions that have written a fence, so it is postponed
	 * if one of them is the caller's own.
	 * @param store the store
	 * @param limit the maximum time
	 */
	void ensureIndex(StoreRequest store, Duration limit) {
		if (isDue() && !OpenSession.isOpenHere() && this.times.claim()) {
			try {
				create(store.part(limit));
			}
			catch (MongoInterruptedException ex) {
				throw ex;
			}
			catch (MongoException ex) {
				logger.debug("The collection of the fences could not be created; the next fence may create it", ex);
			}
		}
	}

	boolean isDue() {
		return this.enabled && this.times.isDue();
	}

	/**
	 * Ensure the index later, since the outcome of its creation is unknown.
	 */
	void failed() {
		this.times.failed();
	}

	/**
	 * Create the collection, with the index if it is enabled, before a transaction needs
	 * it. Some servers cannot create a collection inside a transaction.
	 * @param store the store
	 * @throws MongoException if the collection does not exist
	 */
	void create(StoreRequest store) {
		this.times.begin();
		StoreRequest fences = store.on(this.collection);
		MongoException withoutIndex = this.enabled ? createIndex(fences.part(LONGEST)) : null;
		if (this.enabled && withoutIndex == null) {
			// A later failure is logged again
			this.warned.set(false);
			return;
		}
		MongoException withoutCollection = createCollection(fences);
		if (withoutIndex != null) {
			this.times.failed();
			warn(withoutIndex, withoutCollection);
		}
		if (withoutCollection != null) {
			throw withoutCollection;
		}
	}

	private @Nullable MongoException createIndex(StoreRequest fences) {
		try {
			fences.collection()
				.createIndex(doc(LockDocument.UPDATED_AT, new BsonInt32(1)),
						new IndexOptions().expireAfter(1L, TimeUnit.DAYS));
			return null;
		}
		catch (MongoInterruptedException ex) {
			this.times.failed();
			throw ex;
		}
		catch (MongoException ex) {
			return ex;
		}
	}

	private static @Nullable MongoException createCollection(StoreRequest fences) {
		try {
			fences.createCollection();
			return null;
		}
		catch (MongoInterruptedException ex) {
			throw ex;
		}
		catch (MongoException ex) {
			return (ex.getCode() != NAMESPACE_EXISTS) ? ex : null;
		}
	}

	private void warn(MongoException index, @Nullable MongoException collection) {
		if (!this.warned.compareAndSet(false, true)) {
			return;
		}
		String name = this.collection.name();
		if (collection == null) {
			logger.warn("The index that removes old fences from '{}' could not be created ({}). Transactions are fenced"
					+ " without it; the fences of names that are no longer used remain. {}, or run"
					+ " db.getCollection('{}').createIndex({updatedAt: 1}, {expireAfterSeconds: 86400}) once, or"
					+ " set dblock.mongodb.create-indexes=false", name, FailureTranslation.summary(index),
					FailureTranslation.adviceOnIndex(index), name);
		}
		else {
			logger.warn(
					"The index that removes old fences from '{}' could not be created ({}), nor could the collection"
							+ " itself ({}). If the collection does not exist, transactions under locks create it, or"
							+ " fail. {}",
					name, FailureTranslation.summary(index), FailureTranslation.summary(collection),
					FailureTranslation.adviceOnCollection(collection));
		}
	}

}
