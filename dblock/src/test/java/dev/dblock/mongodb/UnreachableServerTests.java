package dev.dblock.mongodb;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import com.mongodb.ReadPreference;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.Worker;
import dev.dblock.engine.LockEngine;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.mongodb.request.StoreAccess;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.UnreachableStoreException;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.conversions.Bson;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.Answers;
import org.mockito.Mockito;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.eq;

@SameOnEachJdk
class UnreachableServerTests {

	private static final Duration LIMIT = Duration.ofMillis(1500);

	private static final LeaseKey KEY = new LeaseKey("stock", "me");

	private static MongoLockRepository repository(MongoClient client, StatementDialect dialect) {
		return new MongoLockRepository(new SimpleMongoClientDatabaseFactory(client, "test"), settings(dialect));
	}

	private static MongoLockSettings settings(StatementDialect dialect) {
		return new MongoLockSettings("locks", Duration.ofMillis(500), Duration.ofDays(1), LIMIT, dialect, true);
	}

	private static AcquireRequest request() {
		return new AcquireRequest(KEY, Duration.ofSeconds(30), "host", "main", "a test", LIMIT);
	}

	@ParameterizedTest
	@EnumSource
	void aServerThatIsDownStopsNothingUntilALockIsAskedFor(StatementDialect dialect) {
		try (MongoClient client = MongoClients.create("mongodb://127.0.0.1:1/")) {
			MongoLockRepository locks = repository(client, dialect);
			assertThatExceptionOfType(DataAccessResourceFailureException.class)
				.isThrownBy(() -> locks.acquire(request()))
				.withMessageContaining("'stock'")
				.withMessageContaining("no writable server");
			assertThatExceptionOfType(DataAccessResourceFailureException.class)
				.isThrownBy(() -> locks.renew(List.of(KEY), LIMIT));
			assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(() -> locks.find("stock"));
			assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(() -> locks.time(LIMIT));
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 500, 1000, 1500 })
	void noWaitingThreadIsRefused(int waitMillis) throws Exception {
		LockOptions defaults = new LockOptions(Duration.ofSeconds(30), Duration.ofMillis(waitMillis), Duration.ZERO,
				Duration.ZERO, true, WhenLost.NOTIFY, null, null);
		EngineSettings settings = new EngineSettings("", "host", defaults, Duration.ofSeconds(10),
				new EngineSettings.Poll(Duration.ofMillis(50), Duration.ofSeconds(1)),
				new EngineSettings.HandOff(10_000, Duration.ofMillis(100)));
		try (MongoClient client = MongoClients.create("mongodb://127.0.0.1:1/");
				DefaultLockEngine engine = new DefaultLockEngine(repository(client, StatementDialect.AUTO), settings,
						List.of())) {
			List<Worker<LockEngine.Attempt>> waiters = Stream
				.generate(() -> Worker.start(() -> engine.acquire("stock", LockOptions.defaults())))
				.limit(8)
				.toList();
			for (Worker<LockEngine.Attempt> waiter : waiters) {
				assertThat(waiter.failure()).isInstanceOf(DataAccessException.class).hasMessageContaining("'stock'");
			}
		}
	}

	@Test
	void onlyARequestWhoseFirstCommandFoundNoServerWasSurelyNotSent() {
		try (MongoClient client = MongoClients.create("mongodb://127.0.0.1:1/")) {
			MongoDatabase reachable = Mockito.mock(MongoDatabase.class, Answers.RETURNS_SELF);
			Mockito.when(reachable.runCommand(any(Bson.class), any(ReadPreference.class), eq(BsonDocument.class)))
				.thenReturn(new BsonDocument());
			Mockito.when(reachable.getName()).thenReturn("test");
			SimpleMongoClientDatabaseFactory factory = Mockito
				.spy(new SimpleMongoClientDatabaseFactory(client, "test"));
			// Answers the check of the server
			Mockito.doReturn(reachable).doCallRealMethod().when(factory).getMongoDatabase();
			StoreAccess access = new StoreAccess(factory, () -> "unseen",
					new StoreAccess.Terms("locks", "locks.fences", false, Duration.ZERO, Duration.ofDays(1), LIMIT),
					System::nanoTime, System::currentTimeMillis);
			access.execute("x", LIMIT, (statements, store) -> true);
			BsonDocument ping = new BsonDocument("ping", new BsonInt32(1));
			assertThatExceptionOfType(UnreachableStoreException.class)
				.isThrownBy(() -> access.execute("x", LIMIT, (statements, store) -> store.command(ping)));
			assertThatExceptionOfType(DataAccessResourceFailureException.class)
				.isThrownBy(() -> access.execute("x", LIMIT, (statements, store) -> {
					assertThat(store.collection()).as("what an earlier command was sent with").isNotNull();
					return store.command(ping);
				}))
				.isNotInstanceOf(UnreachableStoreException.class);
			assertThatExceptionOfType(DataAccessResourceFailureException.class)
				.isThrownBy(() -> access.executeOnFences("x", LIMIT, LIMIT, (store) -> store.command(ping)))
				.isNotInstanceOf(UnreachableStoreException.class);
		}
	}

	@Test
	void aClosedClientIsAnErrorOfTheStore() {
		MongoClient client = MongoClients.create("mongodb://127.0.0.1:1/");
		MongoLockRepository locks = repository(client, StatementDialect.AUTO);
		client.close();
		assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(() -> locks.acquire(request()))
			.withMessageContaining("closed");
	}

}
