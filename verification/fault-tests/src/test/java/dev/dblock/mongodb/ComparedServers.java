package dev.dblock.mongodb;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

import com.mongodb.MongoCommandException;
import com.mongodb.ReadPreference;
import com.mongodb.client.MongoDatabase;
import dev.dblock.simulation.server.Connection;
import dev.dblock.simulation.server.SimulatedServer;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonInt64;
import org.bson.BsonNull;
import org.bson.BsonString;
import org.bson.BsonValue;

/**
 * Sends each command to a real server and to a simulated one that has the same documents,
 * and compares the answers and the documents after it. Times may differ by a little.
 */
final class ComparedServers implements Connection {

	private static final String COLLECTION = "locks";

	private static final long LONGEST_DIFFERENCE_MILLIS = 5000;

	private static final long TOKENS_PER_MILLI = 1024;

	/** Smaller numbers are no tokens. */
	private static final long SMALLEST_TOKEN = 1_000_000_000_000_000L;

	/** Their answers describe the server, unless they are errors. */
	private static final Set<String> ONLY_ERRORS = Set.of("hello", "isMaster", "buildInfo", "listCollections",
			"listIndexes", "createIndexes", "create");

	private static final Set<String> IGNORED = Set.of("operationTime", "$clusterTime", "electionId", "opTime", "errmsg",
			"codeName", "keyPattern", "keyValue");

	private final MongoDatabase real;

	private final SimulatedServer simulated;

	private long difference;

	private final Set<String> compared = new TreeSet<>();

	ComparedServers(MongoDatabase real) {
		this.real = real;
		this.simulated = new SimulatedServer(real.getName(), true, System::currentTimeMillis,
				(collection, before, after, report) -> report.run());
	}

	/**
	 * Open a change stream of the simulated server.
	 * @return its cursor
	 */
	BsonInt64 openSimulatedStream(List<BsonDocument> selection) {
		BsonArray pipeline = new BsonArray(List.of(new BsonDocument("$changeStream", new BsonDocument())));
		pipeline.addAll(selection);
		return this.simulated
			.execute(new BsonDocument("aggregate", new BsonString(COLLECTION)).append("pipeline", pipeline), 0)
			.getDocument("cursor")
			.getInt64("id");
	}

	BsonArray simulatedEvents(BsonInt64 cursor) {
		return this.simulated
			.execute(new BsonDocument("getMore", cursor).append("collection", new BsonString(COLLECTION)), 0)
			.getDocument("cursor")
			.getArray("nextBatch");
	}

	/**
	 * Return the names of the commands that were compared.
	 */
	Set<String> compared() {
		return this.compared;
	}

	@Override
	public synchronized BsonDocument send(BsonDocument command, Duration limit) {
		this.simulated.load(COLLECTION, stored());
		BsonDocument copy = command.clone();
		long now = System.currentTimeMillis();
		BsonDocument expected = execute(command, limit);
		long answered = System.currentTimeMillis();
		// On a busy machine, the server may have read its clock long before its answer
		this.difference = LONGEST_DIFFERENCE_MILLIS + answered - now;
		List<BsonDocument> stored = stored();
		BsonDocument actual = this.simulated.execute(copy, timeOfExecution(expected, stored, now, answered));
		String name = command.getFirstKey();
		if (!ONLY_ERRORS.contains(name) || expected.getNumber("ok").intValue() != 1) {
			compare(command, "answer", expected, actual);
		}
		compare(command, "documents", new BsonArray(stored),
				new BsonArray(List.copyOf(this.simulated.documents(COLLECTION).values())));
		this.compared.add(name);
		return expected;
	}

	/**
	 * Return the time of the real server when it executed a command, if its answer or a
	 * document shows it. A millisecond decides whether an update changes anything, since
	 * it can write the time that is stored already.
	 */
	private static long timeOfExecution(BsonDocument answer, List<BsonDocument> stored, long sent, long answered) {
		if (answer.get("value") instanceof BsonDocument value && value.isDateTime("now")) {
			return value.getDateTime("now").getValue();
		}
		return stored.stream()
			.filter((document) -> document.isDateTime("updatedAt"))
			.mapToLong((document) -> document.getDateTime("updatedAt").getValue())
			.filter((updated) -> updated >= sent && updated <= answered)
			.max()
			.orElse(sent);
	}

	private BsonDocument execute(BsonDocument command, Duration limit) {
		if (command.getFirstKey().equals("find")) {
			command.append("batchSize", new BsonInt32(10_000));
		}
		try {
			return this.real.withTimeout(limit.toMillis(), TimeUnit.MILLISECONDS)
				.runCommand(command, ReadPreference.primary(), BsonDocument.class);
		}
		catch (MongoCommandException ex) {
			return ex.getResponse();
		}
	}

	private List<BsonDocument> stored() {
		return this.real.getCollection(COLLECTION, BsonDocument.class).find().into(new ArrayList<>());
	}

	private void compare(BsonDocument command, String path, BsonValue expected, BsonValue actual) {
		if (!isSame(command, path, expected, actual)) {
			throw new AssertionError(
					"%s is %s, but simulated as %s, after %s".formatted(path, expected, actual, command.toJson()));
		}
	}

	private boolean isSame(BsonDocument command, String path, BsonValue expected, BsonValue actual) {
		if (expected.getBsonType() != actual.getBsonType()) {
			return false;
		}
		return switch (expected.getBsonType()) {
			case DATE_TIME ->
				Math.abs(expected.asDateTime().getValue() - actual.asDateTime().getValue()) <= this.difference;
			case INT64 -> {
				long value = expected.asInt64().getValue();
				yield Math.abs(value - actual.asInt64().getValue()) <= ((value > SMALLEST_TOKEN)
						? this.difference * TOKENS_PER_MILLI : 0);
			}
			case ARRAY -> {
				BsonArray elements = expected.asArray();
				for (int i = 0; i < elements.size() && elements.size() == actual.asArray().size(); i++) {
					compare(command, path + "." + i, elements.get(i), actual.asArray().get(i));
				}
				yield elements.size() == actual.asArray().size();
			}
			case DOCUMENT -> {
				Set<String> fields = new TreeSet<>(expected.asDocument().keySet());
				fields.addAll(actual.asDocument().keySet());
				fields.removeAll(IGNORED);
				for (String field : fields) {
					compare(command, path + "." + field, expected.asDocument().get(field, BsonNull.VALUE),
							actual.asDocument().get(field, BsonNull.VALUE));
				}
				yield true;
			}
			default -> expected.equals(actual);
		};
	}

}
