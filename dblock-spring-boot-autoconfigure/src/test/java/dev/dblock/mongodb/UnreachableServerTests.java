package dev.dblock.mongodb;

import java.time.Duration;
import java.util.List;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.core.AcquireRequest;
import dev.dblock.core.LeaseKey;
import dev.dblock.testing.SameOnEachJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@SameOnEachJdk
class UnreachableServerTests {

	private static final Duration LIMIT = Duration.ofMillis(1500);

	private static final LeaseKey KEY = new LeaseKey("stock", "me");

	private static MongoLockRepository repository(MongoClient client, StatementDialect dialect) {
		return new MongoLockRepository(new SimpleMongoClientDatabaseFactory(client, "test"),
				new MongoLockSettings("locks", Duration.ofMillis(500), Duration.ofDays(1), LIMIT, dialect, true));
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
				.withMessageContaining("no server");
			assertThatExceptionOfType(DataAccessResourceFailureException.class)
				.isThrownBy(() -> locks.renew(List.of(KEY), LIMIT));
			assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(() -> locks.find("stock"));
			assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(() -> locks.time(LIMIT));
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
