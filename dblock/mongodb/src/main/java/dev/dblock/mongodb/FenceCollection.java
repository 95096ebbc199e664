package dev.dblock.mongodb;

import java.time.Duration;
import java.util.function.LongSupplier;

import com.mongodb.MongoException;
import com.mongodb.MongoInterruptedException;
import dev.dblock.mongodb.request.FailureTranslation;
import dev.dblock.mongodb.request.LockDocument;
import dev.dblock.mongodb.request.StoreRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The collection of the fences, and its index that removes old ones. Both are ensured
 * before the first transaction, before fences are raised, and, if the application's own
 * sessions are fenced, before a lock is acquired. Each time, requests are sent only if
 * they are due.
 */
final class FenceCollection extends EnsuredIndex {

	private static final Logger logger = LoggerFactory.getLogger(FenceCollection.class);

	private static final int NAMESPACE_EXISTS = 48;

	/** At most half of the request's time, which leaves some for the collection alone. */
	private static final Duration LONGEST = Duration.ofMinutes(1);

	private final String name;

	FenceCollection(String name, boolean enabled, LongSupplier nanoTime) {
		super(LockDocument.UPDATED_AT, Duration.ofDays(1), enabled, nanoTime);
		this.name = name;
	}

	/**
	 * Create the index if that is due; otherwise send no request. The creation of a
	 * missing index waits for transactions that have written a fence, so it is postponed
	 * if one of them is the caller's own.
	 * @param store the store
	 * @param limit the maximum time
	 */
	void ensureIndex(StoreRequest store, Duration limit) {
		if (isDue() && !OpenSession.isOpenHere() && claim()) {
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

	/**
	 * Create the collection, with the index if it is enabled, before a transaction needs
	 * it. Some servers cannot create a collection inside a transaction.
	 * @param store the store
	 * @throws MongoException if the collection does not exist
	 */
	void create(StoreRequest store) {
		StoreRequest fences = store.on(this.name);
		MongoException withoutIndex = isEnabled() ? createIndex(fences.part(LONGEST)) : null;
		if (isEnabled() && withoutIndex == null) {
			return;
		}
		MongoException withoutCollection = createCollection(fences);
		if (withoutIndex != null && isFirstFailure()) {
			warn(withoutIndex, withoutCollection);
		}
		if (withoutCollection != null) {
			throw withoutCollection;
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
		if (collection == null) {
			logger.warn("The index that removes old fences from '{}' could not be created ({}). Transactions are fenced"
					+ " without it; the fences of names that are no longer used remain. {}, or run"
					+ " db.getCollection('{}').createIndex({updatedAt: 1}, {expireAfterSeconds: 86400}) once, or"
					+ " set dblock.mongodb.create-indexes=false", this.name, FailureTranslation.summary(index),
					FailureTranslation.adviceOnIndex(index), this.name);
		}
		else {
			logger.warn(
					"The index that removes old fences from '{}' could not be created ({}), nor could the collection"
							+ " itself ({}). If the collection does not exist, transactions under locks create it, or"
							+ " fail. {}",
					this.name, FailureTranslation.summary(index), FailureTranslation.summary(collection),
					FailureTranslation.adviceOnCollection(collection));
		}
	}

}
