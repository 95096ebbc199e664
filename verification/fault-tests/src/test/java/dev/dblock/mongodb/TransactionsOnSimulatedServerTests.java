package dev.dblock.mongodb;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoExecutionTimeoutException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoDatabase;
import dev.dblock.simulation.server.SimulatedServer;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonString;
import org.bson.BsonValue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Transactions on a real server, with which the simulated server is compared after each
 * command.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class TransactionsOnSimulatedServerTests {

	private final List<Session> sessions = new ArrayList<>();

	private MongoServer server;

	private MongoDatabase real;

	private SimulatedServer simulated;

	@BeforeEach
	void open(MongoServer server) {
		this.server = server;
		this.real = server.client().getDatabase(server.freshDatabase());
		this.simulated = new SimulatedServer(this.real.getName(), true, System::currentTimeMillis,
				(collection, before, after, report) -> {
				});
		assertThat(outside("{insert: 'data', documents: [{_id: 'a', n: 1}, {_id: 'b', n: 1}]}")).isEqualTo("ok");
	}

	@AfterEach
	void close() {
		this.sessions.forEach((session) -> session.real.close());
	}

	private static String increment(String id) {
		return "{findAndModify: 'data', query: {_id: '%s'}, update: {$inc: {n: NumberLong(1)}}, new: true, upsert: true}"
			.formatted(id);
	}

	private static String raise(String id) {
		return raise(id, 60_000);
	}

	private static String raise(String id, int maxTimeMillis) {
		return "{update: 'data', updates: [{q: {_id: '%s'}, u: {$inc: {n: NumberLong(1)}}, upsert: true}], maxTimeMS: %d}"
			.formatted(id, maxTimeMillis);
	}

	private static String read(String id) {
		return "{find: 'data', filter: {_id: '%s'}}".formatted(id);
	}

	private static String setToOne(String id) {
		return "{findAndModify: 'data', query: {_id: '%s'}, update: {$set: {n: 1}}, new: true}".formatted(id);
	}

	@Test
	void aChangeSinceTheBeginIsAConflict() {
		Session one = new Session();
		assertThat(one.send(read("a"))).contains("\"n\": 1");
		outside(increment("a"));
		assertThat(one.send(read("a"))).contains("\"n\": 1");
		assertThat(one.send(increment("a"))).isEqualTo("112 TransientTransactionError");
		assertThat(one.end("commitTransaction")).isEqualTo("251 TransientTransactionError");
	}

	@Test
	void aChangeOfNothingIsNoConflict() {
		Session one = new Session();
		one.send(read("a"));
		outside(increment("a"));
		assertThat(one.send(setToOne("a"))).contains("\"n\": 1");
		assertThat(one.send(increment("b"))).contains("\"n\": 2");
		assertThat(one.end("commitTransaction")).isEqualTo("ok");
		assertThat(outside(read("b"))).contains("\"n\": 2");
	}

	@Test
	void theFirstOfTwoTransactionsSucceeds() {
		Session one = new Session();
		Session other = new Session();
		one.send(increment("a"));
		assertThat(other.send(increment("a"))).isEqualTo("112 TransientTransactionError");
		assertThat(one.end("commitTransaction")).isEqualTo("ok");
	}

	/**
	 * Only a write of an existing document ends at its limit. An upsert waits for the
	 * insert of a transaction until that has ended.
	 */
	@Test
	void anotherWriteWaits() {
		Session one = new Session();
		one.send(increment("a"));
		assertThat(outside(raise("a", 300))).isEqualTo("50");
		outside(read("a"));
		assertThat(one.end("commitTransaction")).isEqualTo("ok");
		assertThat(outside(raise("a"))).isEqualTo("ok");
		outside(read("a"));
	}

	@Test
	void anotherChangeOfNothingDoesNotWait() {
		Session one = new Session();
		one.send(increment("a"));
		assertThat(outside(setToOne("a"))).contains("\"n\": 1");
		assertThat(one.end("abortTransaction")).isEqualTo("ok");
		assertThat(outside(raise("a"))).isEqualTo("ok");
		outside(read("a"));
	}

	@Test
	void aDocumentThatIsInsertedSinceTheBeginIsAConflict() {
		Session one = new Session();
		one.send(read("new"));
		outside(raise("new"));
		assertThat(one.send(increment("new"))).isEqualTo("112 TransientTransactionError");
	}

	private String outside(String json) {
		BsonDocument command = BsonDocument.parse(json);
		return compared(command.clone(), () -> this.real.runCommand(command, BsonDocument.class));
	}

	private String compared(BsonDocument command, Supplier<BsonDocument> real) {
		String expected;
		try {
			expected = text(real.get());
		}
		catch (MongoCommandException ex) {
			expected = text(ex.getResponse());
		}
		catch (MongoExecutionTimeoutException ex) {
			expected = String.valueOf(ex.getCode());
		}
		assertThat(text(this.simulated.execute(command, System.currentTimeMillis()))).as(command.toJson())
			.isEqualTo(expected);
		return expected;
	}

	private static String text(BsonDocument answer) {
		if (answer.getNumber("ok").intValue() != 1) {
			String labels = answer.getArray("errorLabels", new BsonArray())
				.stream()
				.map((label) -> " " + label.asString().getValue())
				.reduce("", String::concat);
			return answer.getInt32("code").getValue() + labels;
		}
		BsonValue value = answer.isDocument("cursor") ? answer.getDocument("cursor").getArray("firstBatch")
				: answer.get("value");
		return (value != null) ? new BsonDocument("value", value).toJson() : "ok";
	}

	/**
	 * A session with a transaction on both servers.
	 */
	private final class Session {

		private final ClientSession real = TransactionsOnSimulatedServerTests.this.server.client().startSession();

		private boolean begun;

		Session() {
			TransactionsOnSimulatedServerTests.this.sessions.add(this);
			this.real.startTransaction();
		}

		String send(String json) {
			BsonDocument command = BsonDocument.parse(json);
			return compared(simulated(command.clone()), () -> TransactionsOnSimulatedServerTests.this.real
				.runCommand(this.real, command, BsonDocument.class));
		}

		String end(String command) {
			return compared(simulated(new BsonDocument(command, new BsonInt64(1))), () -> {
				if (command.startsWith("commit")) {
					this.real.commitTransaction();
				}
				else {
					this.real.abortTransaction();
				}
				return new BsonDocument("ok", new BsonInt64(1));
			});
		}

		private BsonDocument simulated(BsonDocument command) {
			command.append("lsid", new BsonString(toString())).append("txnNumber", new BsonInt64(1));
			if (!this.begun) {
				command.append("startTransaction", new BsonInt64(1));
			}
			this.begun = true;
			return command;
		}

	}

}
