package dev.dblock.mongodb;

import java.time.Duration;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.store.StoreLoginException;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A server refuses a user that it does not know also where it demands none.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class RefusedLoginTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	@Test
	void refusedLoginIsReportedAsSuch(MongoServer server) {
		String uri = server.uri().replace("mongodb://", "mongodb://nobody:wrong@");
		try (MongoClient client = MongoClients.create(uri)) {
			MongoLockRepository locks = new MongoLockRepository(new SimpleMongoClientDatabaseFactory(client, "test"),
					new MongoLockSettings("locks", Duration.ofMillis(500), Duration.ofDays(1), TIMEOUT,
							StatementDialect.AUTO, true));
			for (int i = 0; i < 3; i++) {
				assertThatExceptionOfType(StoreLoginException.class).isThrownBy(() -> locks.time(TIMEOUT))
					.withMessage("Could not read the clock in the collection 'locks': the login failed (18"
							+ " AuthenticationFailed: Authentication failed.). Check the user, the password and the"
							+ " authSource");
			}
		}
	}

}
