package dev.dblock.mongodb;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

import com.mongodb.MongoException;
import com.mongodb.MongoInterruptedException;
import com.mongodb.client.model.IndexOptions;
import dev.dblock.mongodb.request.StoreRequest;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;

import static dev.dblock.mongodb.request.BsonParts.doc;

/**
 * Base class for the indexes that remove old documents. Each is ensured at first use,
 * every ten minutes, and a minute after a failure. A failure is logged once, until the
 * creation succeeds.
 */
abstract class EnsuredIndex {

	private static final long PAUSE = Duration.ofMinutes(10).toNanos();

	private static final long PAUSE_AFTER_FAILURE = Duration.ofMinutes(1).toNanos();

	private final String field;

	private final Duration expiry;

	private final boolean enabled;

	private final LongSupplier nanoTime;

	private final AtomicLong next;

	private final AtomicBoolean warned = new AtomicBoolean();

	/**
	 * Create an index without sending a request.
	 * @param field the date on which the expiry is based
	 * @param expiry how long after that date a document is removed
	 * @param enabled whether the index is to be created
	 * @param nanoTime the monotonic clock, in nanoseconds
	 */
	EnsuredIndex(String field, Duration expiry, boolean enabled, LongSupplier nanoTime) {
		this.field = field;
		this.expiry = expiry;
		this.enabled = enabled;
		this.nanoTime = nanoTime;
		this.next = new AtomicLong(nanoTime.getAsLong());
	}

	boolean isEnabled() {
		return this.enabled;
	}

	boolean isDue() {
		return this.enabled && this.nanoTime.getAsLong() - this.next.get() >= 0;
	}

	/**
	 * Claim the due creation for one of several threads. The others do not wait for it.
	 * @return whether the calling thread has claimed it
	 */
	boolean claim() {
		long due = this.next.get();
		long now = this.nanoTime.getAsLong();
		return this.enabled && now - due >= 0 && this.next.compareAndSet(due, now + PAUSE);
	}

	/**
	 * Create the index, due or not.
	 * @param store the request to its collection
	 * @return the reason if it could not be created
	 */
	@Nullable MongoException createIndex(StoreRequest store) {
		this.next.set(this.nanoTime.getAsLong() + PAUSE);
		try {
			store.collection()
				.createIndex(doc(this.field, new BsonInt32(1)),
						new IndexOptions().expireAfter(this.expiry.toSeconds(), TimeUnit.SECONDS));
			this.warned.set(false);
			return null;
		}
		catch (MongoInterruptedException ex) {
			failed();
			throw ex;
		}
		catch (MongoException ex) {
			failed();
			return ex;
		}
	}

	/**
	 * Ensure the index later, since it could not be created, or it is unknown whether it
	 * was.
	 */
	void failed() {
		this.next.set(this.nanoTime.getAsLong() + PAUSE_AFTER_FAILURE);
	}

	/**
	 * Return whether a failure is to be logged: it is the first one after the index was
	 * last created.
	 */
	boolean isFirstFailure() {
		return this.warned.compareAndSet(false, true);
	}

}
