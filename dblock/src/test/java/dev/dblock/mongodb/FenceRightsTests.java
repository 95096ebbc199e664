package dev.dblock.mongodb;

import java.time.Duration;

import dev.dblock.core.LockRepositoryContract;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.store.LeaseKey;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.OnEachServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A user with all privileges for the collection of the locks, and none for that of the
 * fences, gets an error that names the latter.
 */
@OnEachServer
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3, faults = true)
class FenceRightsTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private MongoLockRepository locks;

	@BeforeEach
	void denyFences(MongoServer server) {
		String database = server.freshDatabase();
		this.locks = new MongoLockRepository(new SimpleMongoClientDatabaseFactory(server.client(), database),
				new MongoLockSettings("dblock_locks", Duration.ofMillis(500), Duration.ofDays(1), TIMEOUT,
						StatementDialect.PIPELINE, true));
		acquire(LockRepositoryContract.key("stock"));
		server.failCommand(FailCommand.on("update", "createIndexes", "create")
			.forCollection(database, "dblock_fences")
			.errorCode(13));
	}

	private void acquire(LeaseKey key) {
		this.locks.acquire(LockRepositoryContract.request(key, Duration.ofMinutes(10)));
	}

	@Test
	void takeOverNamesTheCollectionOfTheFences() {
		this.locks.forceReleaseNow("stock");
		assertThatExceptionOfType(PermissionDeniedDataAccessException.class)
			.isThrownBy(() -> acquire(LockRepositoryContract.key("stock")))
			.withMessageContaining("'stock'")
			.withMessageContaining("in the collection 'dblock_fences': MongoDB denied it");
	}

	@Test
	void settlementNamesTheCollectionOfTheFences() {
		assertThatExceptionOfType(PermissionDeniedDataAccessException.class)
			.isThrownBy(() -> this.locks.settleFence(LockRepositoryContract.key("stock"), 1, Fences.ALL_SLOTS))
			.withMessageContaining("in the collection 'dblock_fences': MongoDB denied it");
	}

	@Test
	void creationNamesTheCollectionOfTheFences() {
		assertThatExceptionOfType(PermissionDeniedDataAccessException.class).isThrownBy(this.locks::createFences)
			.withMessageContaining("in the collection 'dblock_fences': MongoDB denied it");
	}

}
