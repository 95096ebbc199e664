package dev.dblock.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.mongodb.ReadConcern;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Accumulators;
import com.mongodb.client.model.Aggregates;
import com.mongodb.client.model.Sorts;
import dev.dblock.LockLostException;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Data that sections change. For each lock and each way of writing, a section reads a
 * number at its beginning and writes the next number at its end. If two sections are
 * confirmed to have written the same number, one of the two updates is lost.
 * <p>
 * Transactions write each number to a separate document, so that the server detects no
 * conflict between a stale holder and its successor. Only the fence keeps them apart.
 */
final class SectionData {

	static final String COLLECTION = "data";

	private static final String LEDGER = "ledger";

	private static final String LOCK = "lock";

	private static final String ID = "_id";

	private static final String VALUE = "value";

	private static final String TOKEN = "token";

	private static final String TIMES = "times";

	private static final long TIMEOUT_SECONDS = 5;

	private final MongoTemplate template;

	private final TransactionTemplate transactions;

	SectionData(MongoTemplate template, TransactionTemplate transactions) {
		this.template = template;
		this.transactions = transactions;
	}

	static void create(MongoDatabase database) {
		MongoCollection<Document> collection = database.getCollection(COLLECTION);
		for (LockName lock : LockName.ALL) {
			for (Writing writing : List.of(Writing.UNFENCED, Writing.TOKEN)) {
				collection.insertOne(new Document(ID, id(writing, lock.name())).append(VALUE, 0L).append(TOKEN, 0L));
			}
		}
		database.getCollection(LEDGER).createIndex(new Document(LOCK, 1).append(VALUE, -1));
	}

	/**
	 * Return the numbers that transactions have committed, from a primary that a majority
	 * confirms.
	 */
	static List<Committed> ledger(MongoDatabase database) {
		return database.getCollection(LEDGER)
			.withReadConcern(ReadConcern.LINEARIZABLE)
			.aggregate(List.of(Aggregates.group(new Document(LOCK, "$" + LOCK).append(VALUE, "$" + VALUE),
					Accumulators.sum(TIMES, 1)), Aggregates.sort(Sorts.ascending(ID))))
			.map((group) -> committed(group.get(ID, Document.class), group.getInteger(TIMES)))
			.into(new ArrayList<>());
	}

	private static Committed committed(Document number, int times) {
		return new Committed(number.getString(LOCK), number.getLong(VALUE), times);
	}

	private static String id(Writing writing, String lock) {
		return writing + " " + lock;
	}

	private MongoCollection<Document> collection() {
		return collection(COLLECTION);
	}

	private MongoCollection<Document> collection(String name) {
		return this.template.getCollection(name).withTimeout(TIMEOUT_SECONDS, TimeUnit.SECONDS);
	}

	/**
	 * Read the number. With a token, the read itself raises the token of the data, so
	 * that a holder that was overtaken can no longer write. Otherwise, the read concern
	 * ensures that a primary that was overtaken cannot answer.
	 * @return the number, or less than zero if the data has seen a higher token
	 */
	long read(Writing writing, String lock, long token) {
		return switch (writing) {
			case NONE -> -1;
			case UNFENCED -> valueOf(find(collection(), new Document(ID, id(writing, lock))), -1);
			case TOKEN -> valueOf(collection().findOneAndUpdate(
					new Document(ID, id(writing, lock)).append(TOKEN, new Document("$lte", token)),
					new Document("$set", new Document(TOKEN, token))), -1);
			case TRANSACTION -> valueOf(find(collection(LEDGER), new Document(LOCK, lock)), 0);
		};
	}

	private static @Nullable Document find(MongoCollection<Document> collection, Document filter) {
		return collection.withReadConcern(ReadConcern.LINEARIZABLE).find(filter).sort(new Document(VALUE, -1)).first();
	}

	private static long valueOf(@Nullable Document document, long otherwise) {
		return (document != null) ? document.getLong(VALUE) : otherwise;
	}

	/**
	 * Write the number.
	 * @return whether the write was confirmed or rejected
	 */
	Written write(Writing writing, String lock, long token, long value) {
		return switch (writing) {
			case NONE -> Written.NOTHING;
			case UNFENCED -> update(new Document(ID, id(writing, lock)), value);
			case TOKEN -> update(new Document(ID, id(writing, lock)).append(TOKEN, token), value);
			case TRANSACTION -> writeInTransaction(lock, value);
		};
	}

	private Written update(Document filter, long value) {
		long matched = collection().updateOne(filter, new Document("$set", new Document(VALUE, value)))
			.getMatchedCount();
		return (matched == 1) ? Written.CONFIRMED : Written.REFUSED;
	}

	private Written writeInTransaction(String lock, long value) {
		try {
			this.transactions.executeWithoutResult(
					(status) -> this.template.insert(new Document(LOCK, lock).append(VALUE, value), LEDGER));
			return Written.CONFIRMED;
		}
		catch (LockLostException ex) {
			return Written.REFUSED;
		}
	}

}
