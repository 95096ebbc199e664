package dev.dblock.mongodb.request;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import com.mongodb.MongoCommandException;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.InvalidDataAccessResourceUsageException;

import static dev.dblock.mongodb.request.BsonParts.doc;
import static dev.dblock.mongodb.request.BsonParts.text;

/**
 * Checks before the first request whether the server and its collections can keep locks,
 * as far as the user may ask. What cannot keep them is refused with each request, until a
 * later check no longer finds the cause.
 */
final class StoreSuitability implements Consumer<StoreRequest> {

	private static final Logger logger = LoggerFactory.getLogger(StoreSuitability.class);

	private static final BsonInt32 ONE = new BsonInt32(1);

	/** Of the versions before 2, several updates of one document can all succeed. */
	private static final Pattern FERRETDB_2 = Pattern.compile("v?[2-9]\\..*");

	private static final String NX_27017 = "nx_27017";

	/** Set by a grant, and never again while the lock is held. */
	private static final String FIXED_WHILE_HELD = LockDocument.ACQUIRED_AT;

	private static final Set<String> OTHER_DATES = Set.of(LockDocument.UPDATED_AT, LockDocument.EXPIRES_AT,
			LockDocument.RELEASED_AT);

	/** As long as the shortest retention. */
	private static final long DAY = Duration.ofDays(1).toSeconds();

	private final BsonArray collections;

	private final AtomicBoolean warned = new AtomicBoolean();

	/**
	 * Create a check.
	 * @param locks the collection of the locks
	 * @param fences the collection of their fences; {@code null} if there is none
	 */
	StoreSuitability(String locks, @Nullable String fences) {
		this.collections = new BsonArray(
				Stream.of(locks, (fences != null) ? fences : locks).map(BsonString::new).distinct().toList());
	}

	/**
	 * Check the server and its collections.
	 * @param store the store
	 * @throws InvalidDataAccessResourceUsageException if locks would not exclude each
	 * other
	 */
	@Override
	public void accept(StoreRequest store) {
		checkServer(ask(store, doc("buildInfo", ONE)));
		BsonDocument named = doc("name", doc("$in", this.collections));
		for (BsonDocument collection : listed(ask(store, doc("listCollections", ONE).append("filter", named)))) {
			// Some servers ignore the filter
			if (this.collections.contains(collection.get("name"))) {
				checkCollection(store, collection);
			}
		}
		listed(ask(store, doc("listIndexes", text(store.collectionName()))))
			.forEach((index) -> checkIndex(store, index));
	}

	/**
	 * Return the answer to a question. Locks also work for users who may not ask it, and
	 * on servers that do not know it.
	 */
	private static BsonDocument ask(StoreRequest store, BsonDocument question) {
		try {
			return store.command(question);
		}
		catch (MongoCommandException ex) {
			if (FailureTranslation.isPassing(ex)) {
				throw ex;
			}
			logger.debug("The server does not answer '{}', so what it would show is not checked",
					question.getFirstKey(), ex);
			return new BsonDocument();
		}
	}

	private static List<BsonDocument> listed(BsonDocument answer) {
		List<BsonDocument> documents = new ArrayList<>();
		for (BsonValue value : answer.getDocument("cursor", new BsonDocument())
			.getArray("firstBatch", new BsonArray())) {
			documents.add(value.asDocument());
		}
		return documents;
	}

	private static void checkServer(BsonDocument buildInfo) {
		String ferret = string(buildInfo, "ferretdbVersion");
		if (ferret != null && !FERRETDB_2.matcher(ferret).matches()) {
			throw new InvalidDataAccessResourceUsageException(
					("The server is FerretDB %s, on which no lock excludes others: its updates are not atomic, so that"
							+ " several callers are granted the same lock. Keep the locks in MongoDB")
						.formatted(ferret));
		}
		if (NX_27017.equals(string(buildInfo, "process"))) {
			throw new InvalidDataAccessResourceUsageException("The server is nx-27017, on which no lock can be kept: it"
					+ " stores dates as strings. Keep the locks in MongoDB");
		}
	}

	private void checkCollection(StoreRequest store, BsonDocument collection) {
		String name = store.databaseName() + "." + string(collection, "name");
		String type = string(collection, "type");
		BsonDocument options = collection.getDocument("options", new BsonDocument());
		if ("view".equals(type) || "timeseries".equals(type)) {
			throw unsuitable(name, "it is a " + ("view".equals(type) ? "view" : "time series collection"));
		}
		if (options.containsKey("capped") && options.get("capped").asBoolean().getValue()) {
			throw unsuitable(name, "it is a capped collection, from which MongoDB removes documents that are in use");
		}
		String locale = string(options.getDocument("collation", new BsonDocument()), "locale");
		if (locale != null && !"simple".equals(locale) && this.warned.compareAndSet(false, true)) {
			logger.warn("The collection '{}' has the collation '{}' as its default. Names that are equal by it are one"
					+ " lock, some waiters notice a release late, and lists of locks are incomplete. Create the"
					+ " collection without a collation", name, locale);
		}
	}

	private static InvalidDataAccessResourceUsageException unsuitable(String collection, String reason) {
		return new InvalidDataAccessResourceUsageException("Locks cannot be kept in '%s': %s. %s".formatted(collection,
				reason, FailureTranslation.OTHER_COLLECTION));
	}

	/**
	 * Refuse an index that removes documents of held locks, or takes from released ones
	 * the fence mark or the record of a job.
	 */
	private static void checkIndex(StoreRequest store, BsonDocument index) {
		if (!index.containsKey("expireAfterSeconds")) {
			return;
		}
		String field = index.getDocument("key").getFirstKey();
		long seconds = index.getNumber("expireAfterSeconds").longValue();
		if (field.equals(FIXED_WHILE_HELD) || OTHER_DATES.contains(field) && seconds < DAY) {
			throw new InvalidDataAccessResourceUsageException(
					("Locks cannot be kept in '%s.%s': its TTL index '%s' removes documents that are in use, %d s after"
							+ " the date '%s'. Drop that index. dblock has its own, by cleanUpAt")
						.formatted(store.databaseName(), store.collectionName(), string(index, "name"), seconds,
								field));
		}
	}

	private static @Nullable String string(BsonDocument document, String field) {
		return (document.get(field) instanceof BsonString text) ? text.getValue() : null;
	}

}
