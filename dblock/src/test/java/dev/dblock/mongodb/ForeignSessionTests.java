package dev.dblock.mongodb;

import java.time.Duration;
import java.util.List;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Sessions of clients that are unknown to {@link LockFence}.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class ForeignSessionTests {

	@Test
	void sessionOfAnotherClientIsFencedUnlessItIsOfOtherServers(MongoServer server) {
		MongoDatabaseFactory factory = new SimpleMongoClientDatabaseFactory(server.client(), server.freshDatabase());
		MongoLockRepository repository = new MongoLockRepository(factory, new MongoLockSettings("dblock_locks",
				Duration.ofMillis(500), Duration.ofDays(1), Duration.ofSeconds(10), StatementDialect.AUTO, true));
		LockOptions defaults = new LockOptions(Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO, Duration.ZERO, true,
				WhenLost.NOTIFY, null, null);
		try (DefaultLockEngine engine = new DefaultLockEngine(repository,
				new EngineSettings("", "here", defaults, Duration.ofSeconds(10),
						new EngineSettings.Poll(Duration.ofMillis(50), Duration.ofSeconds(1)),
						new EngineSettings.HandOff(0, Duration.ZERO)),
				List.of());
				LockHandle lock = new DefaultLockTemplate(engine).acquire("stock");
				MongoClient another = MongoClients.create(server.uri());
				ClientSession session = another.startSession();
				MongoClient elsewhere = MongoClients.create("mongodb://127.0.0.1:1/");
				ClientSession foreign = elsewhere.startSession()) {
			LockFence fence = new LockFence(repository);
			fence.fence(started(session), lock);
			session.commitTransaction();
			assertThat(factory.getMongoDatabase().getCollection("dblock_fences").find()).singleElement()
				.satisfies((document) -> assertThat(document).containsEntry("token", lock.token()));
			assertThatIllegalArgumentException().isThrownBy(() -> fence.fence(started(foreign), lock))
				.withMessageContaining("a client of other servers than those of the lock 'stock'");
		}
	}

	private static ClientSession started(ClientSession session) {
		session.startTransaction();
		return session;
	}

}
