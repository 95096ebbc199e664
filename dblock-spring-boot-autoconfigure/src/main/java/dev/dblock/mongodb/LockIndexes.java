package dev.dblock.mongodb;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

import com.mongodb.MongoException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.client.model.IndexOptions;
import org.bson.BsonInt32;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import static dev.dblock.mongodb.BsonParts.doc;

/**
 * The index that removes old documents. Created at the first acquire; looked after again
 * when a grant had to create its document or a held lock's document is missing (either
 * can mean that the collection was dropped), and every ten minutes. Locks work without
 * it; that it cannot be created is told once for each collection, until it could.
 */
final class LockIndexes {

	private static final Logger logger = LoggerFactory.getLogger(LockIndexes.class);

	private static final long USUAL_PAUSE = Duration.ofMinutes(10).toNanos();

	/** Many new names at once are no reason to ask each time. */
	private static final long SHORTEST_PAUSE = Duration.ofMillis(100).toNanos();

	private static final long PAUSE_AFTER_FAILURE = Duration.ofMinutes(1).toNanos();

	private final boolean enabled;

	private final LongSupplier nanoTime;

	private final AtomicBoolean warned = new AtomicBoolean();

	private volatile long next;

	private volatile long earliest;

	LockIndexes(boolean enabled, LongSupplier nanoTime) {
		this.enabled = enabled;
		this.nanoTime = nanoTime;
		this.earliest = nanoTime.getAsLong();
		this.next = this.earliest;
	}

	/**
	 * Create the index if it is time to; otherwise cost nothing.
	 * @param store the store
	 * @param limit how long it may take at most
	 */
	void lookAfter(StoreRequest store, Duration limit) {
		if (this.enabled && isDue() && claim()) {
			create(store.part(limit));
		}
	}

	private boolean isDue() {
		return this.nanoTime.getAsLong() - this.next >= 0;
	}

	// One thread of those that find it due at once; the others do not wait for it.
	private synchronized boolean claim() {
		boolean due = isDue();
		if (due) {
			pause(SHORTEST_PAUSE, USUAL_PAUSE);
		}
		return due;
	}

	private synchronized void pause(long shortest, long usual) {
		long now = this.nanoTime.getAsLong();
		this.earliest = now + shortest;
		this.next = now + usual;
	}

	/**
	 * The collection may be another than it was: look after the index soon.
	 */
	synchronized void suspectDrop() {
		this.next = this.earliest;
	}

	private void create(StoreRequest store) {
		try {
			store.collection()
				.createIndex(doc(LockDocument.CLEAN_UP_AT, new BsonInt32(1)),
						new IndexOptions().expireAfter(0L, TimeUnit.SECONDS));
			// What fails from now on is news
			this.warned.set(false);
		}
		catch (MongoInterruptedException ex) {
			suspectDrop();
			throw ex;
		}
		catch (MongoException ex) {
			pause(PAUSE_AFTER_FAILURE, PAUSE_AFTER_FAILURE);
			warn(store, ex);
		}
	}

	private void warn(StoreRequest store, MongoException ex) {
		if (this.warned.compareAndSet(false, true)) {
			logger
				.warn("The index that removes old documents from '{}.{}' could not be created ({}). The locks work without it; "
						+ "the documents of names that are no longer used stay. {}, "
						+ "or run db.getSiblingDB('{}').getCollection('{}').createIndex({cleanUpAt: 1}, {expireAfterSeconds: 0}) once, "
						+ "or set dblock.mongodb.create-indexes=false", store.databaseName(), store.collectionName(),
						ex.getMessage(), FailureTranslation.adviceOnIndex(ex), store.databaseName(),
						store.collectionName());
		}
	}

}
