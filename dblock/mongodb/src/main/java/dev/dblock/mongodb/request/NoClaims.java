package dev.dblock.mongodb.request;

import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.claim.ClaimRecord.Request;
import dev.dblock.claim.Claimed;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.InvalidDataAccessApiUsageException;

/**
 * The statements of an application that makes no claims. It keeps the records of others
 * as they are, and refuses what would have to change them.
 */
final class NoClaims implements ClaimStatements {

	@Override
	public Fields fields(Claim.Key key) {
		throw unknown();
	}

	@Override
	public Expressions expressions(Request request) {
		throw unknown();
	}

	@Override
	public Grant grant(Request request, @Nullable BsonDocument stored, @Nullable LockDocument lock, long now) {
		throw unknown();
	}

	@Override
	public @Nullable Expiry expiry(Request request, LockDocument lock, long now) {
		throw unknown();
	}

	@Override
	public Claimed claimed(Request request, LockDocument document) {
		throw unknown();
	}

	@Override
	public Refusal refusal(Request request, @Nullable LockDocument document, long now) {
		throw unknown();
	}

	@Override
	public @Nullable String unusable(Claim.Key key, BsonDocument stored) {
		throw unknown();
	}

	@Override
	public ClaimRecord.Status status(Claim.Key key, LockDocument document, long now) {
		throw unknown();
	}

	@Override
	public BsonDocument asRead(Claim.Key key, LockDocument document) {
		throw unknown();
	}

	@Override
	public BsonDocument unpaused(BsonDocument stored) {
		throw unknown();
	}

	@Override
	public End end(Claim.End end) {
		throw unknown();
	}

	@Override
	public @Nullable End forced(BsonDocument stored, String holder) {
		if (isNamedIn(stored.get(LockDocument.JOBS), new BsonString(holder))) {
			throw unknown();
		}
		return null;
	}

	/**
	 * Return whether a record names the holder, wherever its format keeps that.
	 */
	private static boolean isNamedIn(@Nullable BsonValue record, BsonString holder) {
		if (record instanceof BsonDocument document) {
			return document.values().stream().anyMatch((part) -> isNamedIn(part, holder));
		}
		if (record instanceof BsonArray array) {
			return array.stream().anyMatch((part) -> isNamedIn(part, holder));
		}
		return holder.equals(record);
	}

	@Override
	public @Nullable Rehearsal rehearsal(String id, String text) {
		return null;
	}

	private static InvalidDataAccessApiUsageException unknown() {
		return new InvalidDataAccessApiUsageException(
				"The lock is used for claims, such as planned times of a job, which no module on the class path supports."
						+ " Add dblock-jobs; in a repackaged jar, keep its file in META-INF/services");
	}

}
