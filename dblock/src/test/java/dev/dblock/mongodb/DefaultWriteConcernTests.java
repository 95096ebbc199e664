package dev.dblock.mongodb;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.ServerAddress;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerConnectionState;
import com.mongodb.connection.ServerDescription;
import com.mongodb.connection.ServerType;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import com.mongodb.event.CommandSucceededEvent;
import dev.dblock.LockHandle;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.OnEachServer;
import org.awaitility.Awaitility;
import org.bson.BsonDocument;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Transactions under a lock whose write concern is left to the server.
 */
@OnEachServer
@ExtendWith(OutputCaptureExtension.class)
class DefaultWriteConcernTests {

	private static final String QUESTION = "getDefaultRWConcern";

	private static final String WARNING = "committed with the server's default write concern";

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** The fields of each. */
	private final List<Set<String>> questions = new CopyOnWriteArrayList<>();

	private final AtomicInteger answers = new AtomicInteger();

	/** In the words of MongoDB 4.4.2, 5.0.32 and 6.0.27. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', nullValues = "majority",
			value = { "{ok: 1}                                                      | {w: 1}",
					"{defaultReadConcern: {level: 'local'}, defaultWriteConcernSource: 'implicit'} | {w: 1}",
					"{defaultWriteConcern: {w: 1, wtimeout: 0}}                     | {w: 1}",
					"{defaultWriteConcern: {w: 2, wtimeout: 0}}                     | {w: 2}",
					"{defaultWriteConcern: {w: 'majority', wtimeout: 0}}            | majority" })
	void aDefaultOfFewerThanTheMajorityIsWeak(String answer, @Nullable String weak) {
		assertThat(DefaultWriteConcern.weakDefault(BsonDocument.parse(answer))).isEqualTo(weak);
	}

	@ParameterizedTest
	@CsvSource({ "REPLICA_SET_PRIMARY, 9, 3, 0, before MongoDB 5.0", "REPLICA_SET_PRIMARY, 13, 3, 0, ",
			"REPLICA_SET_PRIMARY, 17, 1, 0, ", "REPLICA_SET_PRIMARY, 13, 2, 1, with so many arbiters",
			"REPLICA_SET_PRIMARY, 17, 3, 1, with so many arbiters", "REPLICA_SET_PRIMARY, 17, 4, 1, ",
			"REPLICA_SET_PRIMARY, 17, 3, 2, with so many arbiters", "REPLICA_SET_PRIMARY, 17, 5, 2, ",
			"SHARD_ROUTER, 9, 0, 0, before MongoDB 5.0", "SHARD_ROUTER, 17, 0, 0, ", "STANDALONE, 9, 0, 0, " })
	void withoutAnAnswerItIsInferred(ServerType type, int wireVersion, int members, int arbiters,
			@Nullable String weak) {
		ServerDescription server = ServerDescription.builder()
			.address(new ServerAddress())
			.state(ServerConnectionState.CONNECTED)
			.type(type)
			.ok(true)
			.maxWireVersion(wireVersion)
			.hosts(addresses("data", members))
			.arbiters(addresses("arbiter", arbiters))
			.build();
		String inferred = DefaultWriteConcern.weakDefault(
				new ClusterDescription(ClusterConnectionMode.MULTIPLE, ClusterType.REPLICA_SET, List.of(server)));
		if (weak != null) {
			assertThat(inferred).startsWith("{w: 1}").contains(weak);
		}
		else {
			assertThat(inferred).isNull();
		}
	}

	private static Set<String> addresses(String prefix, int count) {
		return IntStream.range(0, count).mapToObj((index) -> prefix + index + ":1").collect(Collectors.toSet());
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
	void theServerIsAskedOnceAndOutsideOfAnyTransaction(MongoServer server, CapturedOutput output) {
		setDefault(server, "majority");
		fence(server, WriteConcern.MAJORITY, 2);
		assertThat(this.questions).as("nothing depends on the answer").isEmpty();
		fence(server, WriteConcern.ACKNOWLEDGED, 3);
		Awaitility.await().atMost(PATIENCE).until(() -> this.answers.get() == 1);
		assertThat(this.questions).singleElement()
			.satisfies((fields) -> assertThat(fields).doesNotContain("txnNumber", "autocommit"));
		assertThat(output).doesNotContain(WARNING);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
	void aDefaultOfOneMemberIsLoggedOnce(MongoServer server, CapturedOutput output) {
		setDefault(server, 1);
		try {
			fence(server, WriteConcern.ACKNOWLEDGED, 3);
			Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(output).contains(WARNING));
			assertThat(output.getOut().split(WARNING, -1)).hasSize(2);
			assertThat(output).contains("which is {w: 1}", "setDefaultRWConcern");
		}
		finally {
			setDefault(server, "majority");
		}
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
	void aUserWithoutThePrivilegeGetsNoErrorAndAFailureIsAskedAgain(MongoServer server, CapturedOutput output) {
		setDefault(server, 1);
		try {
			server.failCommand(FailCommand.on(QUESTION).errorCode(13));
			fence(server, WriteConcern.ACKNOWLEDGED, 1);
			Awaitility.await().atMost(PATIENCE).until(() -> this.questions.size() == 1);
			server.clearFailPoints();
			assertThat(output).doesNotContain("which is {w: 1}:");
			server.failCommand(FailCommand.on(QUESTION).closeConnection());
			try (Application application = new Application(server)) {
				application.fence(WriteConcern.ACKNOWLEDGED);
				Awaitility.await().atMost(PATIENCE).until(() -> this.questions.size() > 1);
				server.clearFailPoints();
				Awaitility.await().atMost(PATIENCE).untilAsserted(() -> {
					application.fence(WriteConcern.ACKNOWLEDGED);
					assertThat(output).contains("which is {w: 1}:");
				});
			}
		}
		finally {
			server.clearFailPoints();
			setDefault(server, "majority");
		}
	}

	private static void setDefault(MongoServer server, Object members) {
		server.client()
			.getDatabase("admin")
			.runCommand(new Document("setDefaultRWConcern", 1).append("defaultWriteConcern", new Document("w", members))
				.append("writeConcern", new Document("w", "majority")));
	}

	private void fence(MongoServer server, WriteConcern concern, int transactions) {
		try (Application application = new Application(server)) {
			for (int count = 0; count < transactions; count++) {
				application.fence(concern);
			}
			if (concern.getWObject() == null) {
				Awaitility.await().atMost(PATIENCE).until(() -> !this.questions.isEmpty());
			}
		}
	}

	private final class Application implements AutoCloseable {

		private final MongoClient client;

		private final MongoLockRepository repository;

		private final DefaultLockEngine engine;

		Application(MongoServer server) {
			this.client = MongoClients.create(MongoClientSettings.builder()
				.applyConnectionString(new ConnectionString(server.uri()))
				.addCommandListener(new CommandListener() {

					@Override
					public void commandStarted(CommandStartedEvent event) {
						if (event.getCommandName().equals(QUESTION)) {
							DefaultWriteConcernTests.this.questions.add(Set.copyOf(event.getCommand().keySet()));
						}
					}

					@Override
					public void commandSucceeded(CommandSucceededEvent event) {
						if (event.getCommandName().equals(QUESTION)) {
							DefaultWriteConcernTests.this.answers.incrementAndGet();
						}
					}

				})
				.build());
			this.repository = new MongoLockRepository(
					new SimpleMongoClientDatabaseFactory(this.client, server.freshDatabase()),
					MongoLockSettings.defaults());
			this.engine = new DefaultLockEngine(this.repository, EngineSettings.defaults("here"), List.of());
		}

		void fence(WriteConcern concern) {
			TransactionOptions options = TransactionOptions.builder().writeConcern(concern).build();
			try (LockHandle lock = new DefaultLockTemplate(this.engine).acquire("stock");
					ClientSession session = this.client.startSession()) {
				session.startTransaction(options);
				new LockFence(this.repository).fence(session, lock);
				session.commitTransaction();
			}
		}

		@Override
		public void close() {
			this.engine.close();
			this.client.close();
		}

	}

}
