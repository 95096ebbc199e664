package dev.dblock.mongodb;

import java.util.List;
import java.util.function.Supplier;

import dev.dblock.core.FenceMark;
import dev.dblock.core.LeaseKey;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonString;

import static dev.dblock.mongodb.BsonParts.doc;
import static dev.dblock.mongodb.BsonParts.text;

/**
 * Statements that need no arithmetic on the server's clock, and so are the same in both
 * dialects. They leave {@code cleanUpAt} alone: a release changes no index.
 */
final class OperatorStatements {

	static final BsonDocument IS_LONG = doc("$type", new BsonString("long"));

	static final BsonDocument IS_DATE = doc("$type", new BsonString("date"));

	static final BsonDocument IS_STRING = doc("$type", new BsonString("string"));

	static final BsonDocument IS_ABSENT = doc("$exists", BsonBoolean.FALSE);

	private static final BsonDocument RELEASED_NOW = doc(LockDocument.RELEASED_AT, BsonBoolean.TRUE);

	private static final BsonDocument HOLDER = doc(LockDocument.HOLDER, text(""));

	private static final BsonDocument HOLDER_AND_EXPIRY = HOLDER.clone().append(LockDocument.EXPIRES_AT, text(""));

	private static final BsonDocument FENCE_PENDING = doc(LockDocument.FENCE_PENDING, BsonBoolean.TRUE);

	private static final BsonDocument FREE = doc("$unset", HOLDER_AND_EXPIRY).append("$currentDate", RELEASED_NOW);

	private static final BsonDocument FREE_AND_FENCED = FREE.clone()
		.append("$set", doc(LockDocument.FENCE_PENDING, BsonBoolean.FALSE));

	private static final BsonDocument FORCE = doc("$unset", HOLDER).append("$currentDate", RELEASED_NOW)
		.append("$set", FENCE_PENDING);

	private static final BsonDocument FORCE_NOW = FREE.clone().append("$set", FENCE_PENDING);

	private OperatorStatements() {
	}

	static BsonDocument heldBy(LeaseKey lease) {
		return doc(LockDocument.ID, text(lease.name())).append(LockDocument.HOLDER, text(lease.holder()));
	}

	static boolean release(StoreRequest store, LeaseKey lease, FenceMark mark) {
		return updateUnrecorded(store, heldBy(lease), switch (mark) {
			case KEEP -> FREE;
			case CLEAR -> FREE_AND_FENCED;
			case SET -> FORCE_NOW;
		});
	}

	/**
	 * Release, but keep the name taken.
	 * @param store the store
	 * @param lease the lease
	 * @param until milliseconds of the server's clock
	 * @param mark what the next holder is told
	 * @return whether the lease was the holder's
	 */
	static boolean releaseAt(StoreRequest store, LeaseKey lease, long until, FenceMark mark) {
		BsonDocument keep = marked(doc(LockDocument.EXPIRES_AT, BsonParts.date(until)), mark);
		return updateUnrecorded(store, heldBy(lease),
				doc("$unset", HOLDER).append("$currentDate", RELEASED_NOW).append("$set", keep));
	}

	/**
	 * Add what a release says about the fence.
	 * @param fields the fields that are set otherwise
	 * @param mark what to say
	 * @return the fields
	 */
	static BsonDocument marked(BsonDocument fields, FenceMark mark) {
		return (mark == FenceMark.KEEP) ? fields
				: fields.append(LockDocument.FENCE_PENDING, BsonBoolean.valueOf(mark == FenceMark.SET));
	}

	static boolean forceRelease(StoreRequest store, String name) {
		return update(store, lock(name).append(LockDocument.HOLDER, IS_STRING), FORCE);
	}

	/**
	 * Remove the holder and free the name, or end the minimum hold.
	 * @param store the store
	 * @param name the name of the lock
	 * @param stillTaken the condition on {@code expiresAt} of a minimum hold that is not
	 * over
	 * @return whether there was something to end
	 */
	static boolean forceReleaseNow(StoreRequest store, String name, Supplier<BsonDocument> stillTaken) {
		if (update(store, lock(name).append(LockDocument.HOLDER, IS_STRING), FORCE_NOW)) {
			return true;
		}
		BsonDocument inMinimumHold = lock(name).append(LockDocument.HOLDER, IS_ABSENT);
		inMinimumHold.putAll(stillTaken.get());
		return update(store, inMinimumHold, FREE);
	}

	private static BsonDocument lock(String name) {
		return doc(LockDocument.ID, text(name)).append(LockDocument.TOKEN, IS_LONG)
			.append(LockDocument.LEASE_MILLIS, IS_LONG)
			.append(LockDocument.ACQUIRED_AT, IS_DATE);
	}

	/**
	 * What the engine repeats by itself if it must: an update of many, of which there is
	 * but one, is not repeated by the driver, and so the servers need not record that it
	 * was done, which is another write for each of them.
	 */
	private static boolean updateUnrecorded(StoreRequest store, BsonDocument filter, BsonDocument update) {
		return store.collection().updateMany(filter, update).getMatchedCount() > 0;
	}

	/**
	 * The same, by a pipeline.
	 * @param store the store
	 * @param filter by an id
	 * @param update the pipeline
	 * @return whether there was one
	 */
	static boolean updateUnrecorded(StoreRequest store, BsonDocument filter, List<BsonDocument> update) {
		return store.collection().updateMany(filter, update).getMatchedCount() > 0;
	}

	private static boolean update(StoreRequest store, BsonDocument filter, BsonDocument update) {
		return store.collection().updateOne(filter, update).getMatchedCount() > 0;
	}

}
