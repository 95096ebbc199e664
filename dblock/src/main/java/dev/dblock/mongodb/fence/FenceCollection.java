package dev.dblock.mongodb.fence;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

import com.mongodb.MongoException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.client.model.IndexOptions;
import dev.dblock.mongodb.request.FailureTranslation;
import dev.dblock.mongodb.request.IndexTimes;
import dev.dblock.mongodb.request.LockCollection;
import dev.dblock.mongodb.request.LockDocument;
import dev.dblock.mongodb.request.StoreRequest;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static dev.dblock.mongodb.request.BsonParts.doc;

/**
 * The collection of the fences, and its index that removes old ones. Looked after before
 * the first transaction, before fences are raised, and, where sessions of the
 * application's own are fenced, before a lock is acquired; each time only when it is due,
 * see {@link IndexTimes}. What goes wrong is told once, until it works.
 */
public final class FenceCollection {

	private static final Logger logger = LoggerFactory.getLogger(FenceCollection.class);

	private static final int NAMESPACE_EXISTS = 48;

	/** Half of the request's time is left for the collection alone. */
	private static final Duration LONGEST = Duration.ofMinutes(1);

	private final LockCollection collection;

	private final boolean enabled;

	private final IndexTimes times;

	private final AtomicBoolean warnedOfIndex = new AtomicBoolean();

	private final AtomicBoolean warnedOfCollection = new AtomicBoolean();

	FenceCollection(LockCollection collection, boolean enabled, LongSupplier nanoTime) {
		this.collection = collection;
		this.enabled = enabled;
		this.times = new IndexTimes(nanoTime);
	}

	/**
	 * Create the index if it is time to; otherwise cost nothing. One that is missing
	 * waits for the end of the transactions that have written a fence, so it is left for
	 * later where that would be the caller's own.
	 * @param store the store
	 * @param limit how long it may take at most
	 */
	public void lookAfter(StoreRequest store, Duration limit) {
		if (isDue() && !OpenSession.isOpenHere() && this.times.claim()) {
			try {
				create(store.part(limit));
			}
			catch (MongoInterruptedException ex) {
				throw ex;
			}
			catch (MongoException ex) {
				logger.debug("The collection of the fences could not be created; the next fence may do it by the way",
						ex);
			}
		}
	}

	boolean isDue() {
		return this.enabled && this.times.isDue();
	}

	/**
	 * The collection may be another than it was: look after the index soon.
	 */
	void suspectDrop() {
		this.times.suspectDrop();
	}

	/**
	 * Nobody knows what became of it: look after it later.
	 */
	void failed() {
		this.times.failed();
	}

	/**
	 * Make the collection, with the index where it is wanted, before a transaction needs
	 * it: inside one, some servers do not.
	 * @param store the store
	 * @throws MongoException when there is no collection
	 */
	public void create(StoreRequest store) {
		this.times.begin();
		StoreRequest fences = store.on(this.collection);
		if (!this.enabled) {
			createCollection(fences);
			return;
		}
		MongoException failure = createIndex(fences.part(LONGEST));
		if (failure == null) {
			// What fails from now on is news
			this.warnedOfIndex.set(false);
			this.warnedOfCollection.set(false);
			return;
		}
		this.times.failed();
		createWithoutIndex(fences, failure);
	}

	private @Nullable MongoException createIndex(StoreRequest fences) {
		try {
			fences.collection()
				.createIndex(doc(LockDocument.UPDATED_AT, new BsonInt32(1)),
						new IndexOptions().expireAfter(1L, TimeUnit.DAYS));
			return null;
		}
		catch (MongoInterruptedException ex) {
			suspectDrop();
			throw ex;
		}
		catch (MongoException ex) {
			return ex;
		}
	}

	private void createWithoutIndex(StoreRequest fences, MongoException failure) {
		try {
			createCollection(fences);
		}
		catch (MongoInterruptedException ex) {
			throw ex;
		}
		catch (MongoException ex) {
			warnOfCollection(failure, ex);
			throw ex;
		}
		warnOfIndex(failure);
	}

	private static void createCollection(StoreRequest fences) {
		try {
			fences.createCollection();
		}
		catch (MongoException ex) {
			if (ex.getCode() != NAMESPACE_EXISTS) {
				throw ex;
			}
		}
	}

	private void warnOfIndex(MongoException failure) {
		if (this.warnedOfIndex.compareAndSet(false, true)) {
			logger
				.warn("The index that removes old fences from '{}' could not be created ({}). Transactions are fenced "
						+ "without it; the fences of names that are no longer used stay. {}, "
						+ "or run db.getCollection('{}').createIndex({updatedAt: 1}, {expireAfterSeconds: 86400}) once, "
						+ "or set dblock.mongodb.create-indexes=false", this.collection.name(),
						FailureTranslation.summary(failure), FailureTranslation.adviceOnIndex(failure),
						this.collection.name());
		}
	}

	private void warnOfCollection(MongoException index, MongoException failure) {
		if (this.warnedOfCollection.compareAndSet(false, true)) {
			logger.warn(
					"The index that removes old fences from '{}' could not be created ({}), nor the collection itself ({}). "
							+ "Where it is not there, transactions under locks have to make it, or fail. {}",
					this.collection.name(), FailureTranslation.summary(index), FailureTranslation.summary(failure),
					FailureTranslation.adviceOnCollection(failure));
		}
	}

}
