package dev.dblock.mongodb;

import java.util.List;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

import com.mongodb.MongoBulkWriteException;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.BulkWriteOptions;
import com.mongodb.client.model.FindOneAndUpdateOptions;
import com.mongodb.client.model.ReturnDocument;
import com.mongodb.client.model.UpdateOneModel;
import com.mongodb.client.model.UpdateOptions;
import dev.dblock.mongodb.request.BsonParts;
import dev.dblock.mongodb.request.FailureTranslation;
import dev.dblock.mongodb.request.LockDocument;
import dev.dblock.mongodb.request.StoreRequest;
import dev.dblock.store.TransactionFence;
import org.bson.BsonBoolean;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.jspecify.annotations.Nullable;

import static dev.dblock.mongodb.request.BsonParts.doc;
import static dev.dblock.mongodb.request.BsonParts.number;
import static dev.dblock.mongodb.request.BsonParts.text;

/**
 * The fences, as documents in a separate collection, so that the renewal of a lock never
 * conflicts with a transaction under it. There are four documents for each name that was
 * fenced or taken over:
 *
 * <pre>{@code
 * {
 *   _id:       { name: "stock", slot: 0 },
 *   token:     NumberLong("1838349630250000"),   // no transaction with a lower one can be committed
 *   writes:    NumberLong(17),                   // makes each write a change, which the server must order
 *   updatedAt: ISODate(...)                      // by the server's clock; the TTL index removes it a day later
 * }
 * }</pre>
 *
 * A document is removed a day after its last write. The server ends every transaction
 * long before that, so the document no longer prevents any commit by then.
 */
final class Fences {

	private static final String USUAL_LOCKS = "dblock_locks";

	private static final String USUAL_FENCES = "dblock_fences";

	private static final String WRITES = "writes";

	private static final BsonDocument RETURNED = doc(LockDocument.TOKEN, new BsonInt32(1));

	static final FindOneAndUpdateOptions WRITE = new FindOneAndUpdateOptions().upsert(true)
		.returnDocument(ReturnDocument.AFTER)
		.projection(RETURNED);

	private static final UpdateOptions UPSERT = new UpdateOptions().upsert(true);

	private static final BulkWriteOptions UNORDERED = new BulkWriteOptions().ordered(false);

	static final List<Integer> ALL_SLOTS = IntStream.range(0, TransactionFence.SLOTS).boxed().toList();

	private final String collection;

	private final FenceCollection indexes;

	Fences(String locks, boolean createIndexes, LongSupplier nanoTime) {
		this.collection = collectionBeside(locks);
		this.indexes = new FenceCollection(this.collection, createIndexes, nanoTime);
	}

	/**
	 * Return the name of the fence collection. The names of locks are unique within one
	 * collection only, so each lock collection has its own fences.
	 * @param locks the collection of the locks
	 * @return the collection of their fences
	 */
	static String collectionBeside(String locks) {
		return USUAL_LOCKS.equals(locks) ? USUAL_FENCES : locks + ".fences";
	}

	/**
	 * Return the name of the collection.
	 */
	String name() {
		return this.collection;
	}

	FenceCollection indexes() {
		return this.indexes;
	}

	static BsonDocument slot(String name, int slot) {
		return doc(LockDocument.ID, doc("name", text(name)).append("slot", new BsonInt32(slot)));
	}

	// An update without a change is not a write: it would neither wait for a transaction
	// nor prevent its commit.
	static BsonDocument atLeast(long token) {
		return doc("$max", doc(LockDocument.TOKEN, number(token))).append("$inc", doc(WRITES, number(1)))
			.append("$currentDate", doc(LockDocument.UPDATED_AT, BsonBoolean.TRUE));
	}

	/**
	 * Write the fence as a part of a transaction.
	 * @param database the database of the locks
	 * @param session the session of the transaction
	 * @param name the name of the lock
	 * @param slot the slot of the transaction
	 * @param token the token of the holder
	 * @return {@code false} if a higher token is stored
	 */
	boolean write(MongoDatabase database, ClientSession session, String name, int slot, long token) {
		// Without a time limit of its own, which is not allowed in a transaction.
		MongoCollection<BsonDocument> fences = database.getCollection(this.collection, BsonDocument.class)
			.withCodecRegistry(BsonParts.CODECS)
			.withWriteConcern(WriteConcern.ACKNOWLEDGED);
		BsonDocument written = fences.findOneAndUpdate(session, slot(name, slot), atLeast(token), WRITE);
		return isWritten(token, written);
	}

	/**
	 * Return whether a fence contains the token that was to be written, and no higher
	 * one.
	 * @param token the token of the holder
	 * @param written the stored fence after the request
	 */
	boolean isWritten(long token, @Nullable BsonDocument written) {
		return written != null && written.getInt64(LockDocument.TOKEN).getValue() == token;
	}

	/**
	 * Prevent the commit of transactions with a lower token from now on, and wait for
	 * those that came first. This is one command.
	 * @param store the store
	 * @param name the name of the lock
	 * @param slots the slots
	 * @param token the token of the holder
	 */
	void raise(StoreRequest store, String name, List<Integer> slots, long token) {
		List<UpdateOneModel<BsonDocument>> writes = slots.stream()
			.map((slot) -> new UpdateOneModel<BsonDocument>(slot(name, slot), atLeast(token), UPSERT))
			.toList();
		StoreRequest fences = store.on(this.collection);
		try {
			fences.collection().bulkWrite(writes, UNORDERED);
		}
		catch (MongoBulkWriteException ex) {
			// Another upsert was first, so the documents exist now.
			if (!isDuplicate(ex)) {
				throw ex;
			}
			fences.collection().bulkWrite(writes, UNORDERED);
		}
	}

	static boolean isDuplicate(MongoBulkWriteException ex) {
		return ex.getWriteConcernError() == null && FailureTranslation.isDuplicateAtMost(ex);
	}

}
