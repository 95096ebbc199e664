package dev.dblock.simulation;

import java.util.ArrayList;
import java.util.List;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoCollection;
import dev.dblock.mongodb.LockFence;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.simulation.server.SimulatedDriver;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;

/**
 * Numbers that transactions under locks write, each one higher than the last. Each is a
 * document of its own, so that only the fence keeps a stale holder from its commit.
 */
final class Ledger {

	static final String COLLECTION = "ledger";

	private final SimulatedDriver driver;

	private final LockFence fence;

	private final Judge judge;

	private int written;

	Ledger(SimulatedDriver driver, MongoLockRepository repository, Judge judge) {
		this.driver = driver;
		this.fence = new LockFence(repository);
		this.judge = judge;
	}

	/**
	 * Write the next number of a lock.
	 * @param early whether the fence begins the transaction, in place of ending it
	 * @param moment is called before the fence, and before the commit
	 */
	void write(ObservedLock lock, boolean early, Runnable moment) {
		MongoCollection<BsonDocument> ledger = this.driver.database().getCollection(COLLECTION, BsonDocument.class);
		BsonDocument entry = new BsonDocument("_id",
				new BsonString(lock.instance().name() + "/" + lock.token() + "/" + this.written++))
			.append("name", new BsonString(lock.name()))
			.append("token", new BsonInt64(lock.token()));
		try (ClientSession session = this.driver.startSession()) {
			session.startTransaction();
			if (early) {
				fence(session, lock, moment);
			}
			List<BsonDocument> before = ledger.find(session, new BsonDocument("name", entry.get("name")))
				.into(new ArrayList<>());
			long number = 1 + before.stream().mapToLong((each) -> each.getInt64("number").getValue()).max().orElse(0);
			ledger.insertOne(session, entry.append("number", new BsonInt64(number)));
			if (!early) {
				fence(session, lock, moment);
			}
			moment.run();
			session.commitTransaction();
			this.judge.confirmed(lock, number);
		}
	}

	private void fence(ClientSession session, ObservedLock lock, Runnable moment) {
		moment.run();
		this.fence.fence(session, lock.handle());
	}

}
