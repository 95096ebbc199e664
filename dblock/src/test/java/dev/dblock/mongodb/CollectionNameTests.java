package dev.dblock.mongodb;

import java.time.Duration;

import dev.dblock.core.LockRepositoryContract;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.verifyNoInteractions;

/**
 * Collections that cannot keep locks, or not for ever.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
class CollectionNameTests {

	private static final Duration LEASE = Duration.ofMinutes(10);

	private MongoServer server;

	private String database;

	@BeforeEach
	void openDatabase(MongoServer server) {
		this.server = server;
		this.database = server.freshDatabase();
	}

	@AfterEach
	void clearFailPoints() {
		this.server.clearFailPoints();
	}

	private static MongoLockSettings settings(String collection, boolean fenced) {
		return new MongoLockSettings(collection, Duration.ofMillis(500), Duration.ofDays(1), Duration.ofSeconds(60),
				StatementDialect.AUTO, true, fenced);
	}

	private MongoLockRepository locks(String collection, boolean fenced) {
		return new MongoLockRepository(new SimpleMongoClientDatabaseFactory(this.server.client(), this.database),
				settings(collection, fenced));
	}

	private MongoLockRepository locks() {
		return locks("locks", true);
	}

	private static void assertGranted(MongoLockRepository locks, String name) {
		assertThat(locks.acquire(LockRepositoryContract.request(LockRepositoryContract.key(name), LEASE)))
			.isInstanceOf(Granted.class);
	}

	private String longest(String suffix) {
		return "l".repeat(254 - this.database.length() - suffix.length());
	}

	@ParameterizedTest
	@ValueSource(strings = { ".locks", "..", ".", "system.locks", "of.system.locks", "system", "of.system" })
	void nameThatMongodbRefusesIsRefused(String name) {
		assertThatIllegalArgumentException().isThrownBy(() -> settings(name, true))
			.withMessageContaining("'%s'".formatted(name));
	}

	@ParameterizedTest
	@ValueSource(strings = { "locks.", "a..b", "systems", "of.systems.", "1" })
	void oddNameIsThatOfACollection(String name) {
		MongoLockRepository locks = locks(name, true);
		assertGranted(locks, "stock");
		locks.forceReleaseNow("stock");
		assertGranted(locks, "stock");
	}

	@Test
	void nameThatLeavesNoRoomForThatOfTheFencesIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> locks(longest(".fences") + "l", true))
			.withMessageContaining("'%s'".formatted(this.database))
			.withMessageContaining("at most %d bytes", 254 - this.database.length());
	}

	@Test
	void longestNameHasRoomForThatOfTheFences() {
		MongoLockRepository locks = locks(longest(".fences"), true);
		assertGranted(locks, "stock");
		locks.forceReleaseNow("stock");
		assertGranted(locks, "stock");
	}

	@Test
	void whereNothingIsFencedTheNameMayBeAsLongAsThatOfAnyCollection() {
		assertGranted(locks(longest(""), false), "stock");
		assertThatIllegalArgumentException().isThrownBy(() -> locks(longest("") + "l", false));
	}

	@Test
	void factoryIsNotAskedForADatabaseThatHasRoomInAnyCase() {
		MongoDatabaseFactory factory = mock(MongoDatabaseFactory.class);
		assertThat(new MongoLockRepository(factory, settings("locks", true))).isNotNull();
		verifyNoInteractions(factory);
	}

}
