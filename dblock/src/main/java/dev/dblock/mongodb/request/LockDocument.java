package dev.dblock.mongodb.request;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

import dev.dblock.ForeignDocumentException;
import dev.dblock.LockInfo;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonType;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

/**
 * A stored document that is known to be one of ours: its token is a long of a sensible
 * size, its {@code leaseMillis} a long and its {@code acquiredAt} a date, as every grant
 * writes them and no release removes them; its {@code expiresAt} is a date or absent, its
 * {@code holder} a string or absent. Whatever else was changed by hand is read as absent.
 */
public final class LockDocument {

	public static final String ID = "_id";

	static final String HOLDER = "holder";

	static final String ACQUIRER = "acquirer";

	static final String THREAD = "thread";

	static final String WHY = "why";

	public static final String TOKEN = "token";

	static final String ACQUIRED_AT = "acquiredAt";

	public static final String UPDATED_AT = "updatedAt";

	static final String EXPIRES_AT = "expiresAt";

	static final String LEASE_MILLIS = "leaseMillis";

	public static final String RELEASED_AT = "releasedAt";

	static final String FENCE_PENDING = "fencePending";

	static final String JOBS = "jobs";

	static final String CLEAN_UP_AT = "cleanUpAt";

	/** How many tokens the server's clock counts in a millisecond. */
	static final long TOKENS_PER_MILLI = 1024;

	/** Beyond this the next block would not fit into a long for ever. */
	static final long LARGEST_TOKEN = 1L << 62;

	private final BsonDocument fields;

	private LockDocument(BsonDocument fields) {
		this.fields = fields;
	}

	/**
	 * Read what was found under a lock's name.
	 * @param found the document, or {@code null} when there is none
	 * @param name the name it was looked for
	 * @param collection the collection it was looked for in
	 * @return our document, or empty where the name is free because nothing but an
	 * {@code _id} is there
	 * @throws ForeignDocumentException when it is not ours
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
	 * Read a document that may be anything.
	 * @param found the document
	 * @return our document, or empty when it is not ours
	 */
	static Optional<LockDocument> readIfOurs(BsonDocument found) {
		return isOurs(found) ? Optional.of(new LockDocument(found)) : Optional.empty();
	}

	private static boolean isBare(BsonDocument found) {
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

	@Nullable String holder() {
		return string(HOLDER);
	}

	/**
	 * Whether it was ever the lock of a job.
	 */
	boolean hasJobs() {
		return this.fields.containsKey(JOBS);
	}

	/**
	 * The run record of a job, as far as it was read.
	 */
	JobRecord job(JobFields job) {
		return JobRecord.read(this.fields, job);
	}

	boolean isHeldBy(String holder) {
		return holder.equals(holder());
	}

	long token() {
		return this.fields.getInt64(TOKEN).getValue();
	}

	Instant acquiredAt() {
		return Instant.ofEpochMilli(this.fields.getDateTime(ACQUIRED_AT).getValue());
	}

	@Nullable Long expiresAt() {
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
	 * Whether the name is still taken at a time.
	 * @param time milliseconds of the server's clock
	 * @return whether the document ends after it
	 */
	boolean isTakenAt(long time) {
		Long expiresAt = expiresAt();
		return expiresAt != null && expiresAt > time;
	}

	/**
	 * Whether the last grant has created the document: only then this field is absent.
	 * @return whether it was created for the last grant
	 */
	boolean isNew() {
		return !this.fields.containsKey(FENCE_PENDING);
	}

	boolean isFencePending() {
		return BsonBoolean.TRUE.equals(this.fields.get(FENCE_PENDING));
	}

	LockInfo toInfo(long now) {
		Long expiresAt = expiresAt();
		long remaining = (expiresAt != null) ? Math.max(0, expiresAt - now) : 0;
		String holder = holder();
		return new LockInfo(name(), holder != null && remaining > 0, holder, string(ACQUIRER), string(THREAD),
				string(WHY), token(), acquiredAt(), instant(UPDATED_AT), instant(EXPIRES_AT), instant(RELEASED_AT),
				Duration.ofMillis(remaining));
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

}
