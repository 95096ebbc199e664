package dev.dblock.mongodb.request;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import dev.dblock.ForeignDocumentException;
import dev.dblock.LockInfo;
import dev.dblock.LockOptions;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * A stored document that is one of ours. Its token is a long of a plausible size, its
 * {@code leaseMillis} is a long and its {@code acquiredAt} is a date, as every grant
 * writes them and no release removes them. Its {@code expiresAt} is a date or absent, its
 * {@code holder} a string or absent. Any other field that was changed manually to another
 * type is read as absent.
 */
public final class LockDocument {

	public static final String ID = "_id";

	public static final String HOLDER = "holder";

	static final String ACQUIRER = "acquirer";

	static final String THREAD = "thread";

	static final String WHY = "why";

	public static final String TOKEN = "token";

	public static final String ACQUIRED_AT = "acquiredAt";

	public static final String UPDATED_AT = "updatedAt";

	public static final String EXPIRES_AT = "expiresAt";

	static final String LEASE_MILLIS = "leaseMillis";

	public static final String RELEASED_AT = "releasedAt";

	static final String FENCE_PENDING = "fencePending";

	/** How many permits the lock has; absent if it was never acquired with permits. */
	static final String PERMITS = "permits";

	/** How many it had before the last grant with permits. */
	static final String PERMITS_BEFORE = "permitsBefore";

	/** The holder that can be asked to run once more, and by whom it was asked. */
	static final String RUN_AGAIN = "runAgain";

	public static final String JOBS = "jobs";

	/**
	 * Followed by a method: the last planned time that was settled for it, under
	 * whichever id of its job. Not within a common object, so that a manual change of it
	 * cannot fail a grant.
	 */
	public static final String METHOD = "method:";

	public static final String CLEAN_UP_AT = "cleanUpAt";

	/** The number of tokens for each millisecond of the server's clock. */
	static final long TOKENS_PER_MILLI = 1024;

	/** With a larger token, the next blocks would eventually not fit into a long. */
	static final long LARGEST_TOKEN = 1L << 62;

	private final BsonDocument fields;

	private LockDocument(BsonDocument fields) {
		this.fields = fields;
	}

	/**
	 * Read the document that was found for a lock's name.
	 * @param found the document, or {@code null} if there is none
	 * @param name the requested name
	 * @param collection the collection that was searched
	 * @return our document, or empty if the lock is free because there is nothing but an
	 * {@code _id}
	 * @throws ForeignDocumentException if the document is not ours
	 */
	static Optional<LockDocument> read(@Nullable BsonDocument found, String name, String collection) {
		if (found == null || isBare(found)) {
			return Optional.empty();
		}
		if (!isOurs(found)) {
			throw new ForeignDocumentException(name, collection);
		}
		return Optional.of(new LockDocument(found));
	}

	/**
	 * Read any document.
	 * @param found the document
	 * @return our document, or empty if it is not ours
	 */
	static Optional<LockDocument> readIfOurs(BsonDocument found) {
		return isOurs(found) ? Optional.of(new LockDocument(found)) : Optional.empty();
	}

	/**
	 * Return whether a document has an id alone. Requests that end early can leave one.
	 */
	static boolean isBare(BsonDocument found) {
		return found.size() == 1 && found.containsKey(ID);
	}

	private static boolean isOurs(BsonDocument found) {
		BsonValue token = found.get(TOKEN);
		return isOr(found, ID, BsonType.STRING) && token != null && token.isInt64()
				&& token.asInt64().getValue() <= LARGEST_TOKEN && is(found, LEASE_MILLIS, BsonType.INT64)
				&& is(found, ACQUIRED_AT, BsonType.DATE_TIME) && isOr(found, EXPIRES_AT, BsonType.DATE_TIME)
				&& isOr(found, HOLDER, BsonType.STRING);
	}

	private static boolean is(BsonDocument found, String field, BsonType type) {
		return found.containsKey(field) && isOr(found, field, type);
	}

	private static boolean isOr(BsonDocument found, String field, BsonType type) {
		BsonValue value = found.get(field);
		return value == null || value.getBsonType() == type;
	}

	String name() {
		return this.fields.getString(ID).getValue();
	}

	public @Nullable String holder() {
		return string(HOLDER);
	}

	/**
	 * Return whether this was ever acquired for a claim.
	 */
	boolean hasClaims() {
		return this.fields.containsKey(JOBS);
	}

	/**
	 * Return the stored fields, as far as they were read.
	 */
	public BsonDocument fields() {
		return this.fields;
	}

	public boolean isHeldBy(String holder) {
		return holder.equals(holder());
	}

	public long token() {
		return this.fields.getInt64(TOKEN).getValue();
	}

	public Instant acquiredAt() {
		return Instant.ofEpochMilli(this.fields.getDateTime(ACQUIRED_AT).getValue());
	}

	public @Nullable Long expiresAt() {
		return date(EXPIRES_AT);
	}

	@Nullable Long updatedAt() {
		return date(UPDATED_AT);
	}

	@Nullable Long cleanUpAt() {
		return date(CLEAN_UP_AT);
	}

	long leaseMillis() {
		return this.fields.getInt64(LEASE_MILLIS).getValue();
	}

	/**
	 * Return whether the lock is still held at a given time.
	 * @param time milliseconds of the server's clock
	 * @return whether the document expires after it
	 */
	public boolean isTakenAt(long time) {
		Long expiresAt = expiresAt();
		return expiresAt != null && expiresAt > time;
	}

	/**
	 * Return whether the last grant has created the document. The field is absent only in
	 * that case.
	 * @return whether it was created for the last grant
	 */
	boolean isNew() {
		return !this.fields.containsKey(FENCE_PENDING);
	}

	boolean isFencePending() {
		return BsonBoolean.TRUE.equals(this.fields.get(FENCE_PENDING));
	}

	/**
	 * Return what a grant records of a holder that can be asked to run once more.
	 */
	static BsonDocument askable(BsonValue holder) {
		return new BsonDocument(RunAgain.HOLDER, holder);
	}

	/**
	 * Return whether the holder can be asked to run once more, or has closed the
	 * requests.
	 */
	boolean isAskable() {
		String holder = holder();
		return holder != null && this.fields.get(RUN_AGAIN) instanceof BsonDocument runAgain
				&& new BsonString(holder).equals(runAgain.get(RunAgain.HOLDER));
	}

	/**
	 * Return the id of the last request to run once more, or {@code null} if there is
	 * none.
	 */
	@Nullable String asked() {
		return (this.fields.get(RUN_AGAIN) instanceof BsonDocument runAgain
				&& runAgain.get(RunAgain.ASKED) instanceof BsonString asked) ? asked.getValue() : null;
	}

	/**
	 * Return how many permits the lock has, according to the last grant with permits.
	 * Something other than a number, which was changed manually, can stand for any.
	 * @return the number; zero for a plain lock
	 */
	int permits() {
		return count(PERMITS);
	}

	/**
	 * Return how many permits the lock had before the last grant with permits.
	 * @return the number; zero for a plain lock, or if it has not changed
	 */
	int earlierPermits() {
		int before = count(PERMITS_BEFORE);
		return (before != permits()) ? before : 0;
	}

	private int count(String field) {
		BsonValue value = this.fields.get(field, BsonNull.VALUE);
		if (value.isNull()) {
			return 0;
		}
		return value.isNumber() ? (int) Math.max(0, Math.ceil(value.asNumber().doubleValue()))
				: LockOptions.MOST_PERMITS;
	}

	public LockInfo toInfo(long now) {
		Long expiresAt = expiresAt();
		long remaining = (expiresAt != null) ? Math.max(0, expiresAt - now) : 0;
		String holder = holder();
		return new LockInfo(name(), holder != null && remaining > 0, holder, string(ACQUIRER), string(THREAD),
				string(WHY), token(), acquiredAt(), instant(UPDATED_AT), instant(EXPIRES_AT), instant(RELEASED_AT),
				Duration.ofMillis(remaining), permits());
	}

	private @Nullable String string(String field) {
		return (this.fields.get(field) instanceof BsonString string) ? string.getValue() : null;
	}

	private @Nullable Long date(String field) {
		BsonValue value = this.fields.get(field);
		return (value != null && value.isDateTime()) ? Long.valueOf(value.asDateTime().getValue()) : null;
	}

	private @Nullable Instant instant(String field) {
		Long date = date(field);
		return (date != null) ? Instant.ofEpochMilli(date) : null;
	}

	/**
	 * The fields of {@link #RUN_AGAIN}.
	 */
	static final class RunAgain {

		static final String HOLDER = "holder";

		static final String ASKED = "asked";

		static final String CLOSED = "closed";

		private RunAgain() {
		}

		static String path(String field) {
			return RUN_AGAIN + "." + field;
		}

	}

}
