package dev.dblock.mongodb;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import com.mongodb.MongoCommandException;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Indexes;
import dev.dblock.core.LockRepositoryContract;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ListRequest;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.AcquireAnswer.Refused;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.OnEachServer;
import org.bson.Document;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Collections of other kinds under the name of the lock collection, or of the fences.
 */
@OnEachServer
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
@ExtendWith(OutputCaptureExtension.class)
class UnsuitableStoreTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private MongoServer server;

	private MongoDatabase database;

	@BeforeEach
	void openDatabase(MongoServer server) {
		this.server = server;
		this.database = server.client().getDatabase(server.freshDatabase());
	}

	private MongoLockRepository repository(StatementDialect dialect) {
		return repository(dialect, true);
	}

	private MongoLockRepository repository(StatementDialect dialect, boolean fenceTransactions) {
		return new MongoLockRepository(
				new SimpleMongoClientDatabaseFactory(this.server.client(), this.database.getName()),
				new MongoLockSettings("locks", Duration.ofMillis(500), Duration.ofDays(1), TIMEOUT, dialect, true,
						fenceTransactions));
	}

	private static boolean acquire(MongoLockRepository locks, LeaseKey key) {
		return locks.acquire(LockRepositoryContract.request(key, Duration.ofMinutes(10))) instanceof Granted;
	}

	private static boolean acquire(MongoLockRepository locks, String name) {
		return acquire(locks, LockRepositoryContract.key(name));
	}

	private void create(String name, String kind) {
		Document command = new Document("create", name);
		command.putAll(Document.parse(kind));
		try {
			this.database.runCommand(command);
		}
		catch (MongoCommandException ex) {
			Assumptions.abort("This server has no such collection: " + ex.getErrorMessage());
		}
	}

	private static void assertRefused(MongoLockRepository locks, String reason) {
		// Each time, and by whatever request
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
				.isThrownBy(() -> acquire(locks, "stock"))
				.withMessageContaining(reason)
				.withMessageContaining("dblock.mongodb.collection")
				.withMessageNotContaining("classic");
		}
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class).isThrownBy(() -> locks.time(TIMEOUT))
			.withMessageContaining(reason);
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> locks.findAll(ListRequest.all("")))
			.withMessageContaining(reason);
	}

	private static final String VIEW = "{viewOn: 'others', pipeline: []}";

	private static final String CAPPED = "{capped: true, size: 4096, max: 3}";

	private static final String TIME_SERIES = "{timeseries: {timeField: 't'}}";

	@ParameterizedTest
	@EnumSource
	void viewIsRefused(StatementDialect dialect) {
		create("locks", VIEW);
		assertRefused(repository(dialect),
				"Locks cannot be kept in '%s.locks': it is a view".formatted(this.database.getName()));
	}

	@ParameterizedTest
	@EnumSource
	void timeSeriesCollectionIsRefused(StatementDialect dialect) {
		create("locks", TIME_SERIES);
		assertRefused(repository(dialect), "it is a time series collection");
	}

	@ParameterizedTest
	@EnumSource
	void cappedCollectionIsRefusedUntilItIsDropped(StatementDialect dialect) {
		create("locks", CAPPED);
		MongoLockRepository locks = repository(dialect);
		assertRefused(locks, "it is a capped collection");
		this.database.getCollection("locks").drop();
		assertThat(acquire(locks, "stock")).isTrue();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { VIEW + "|it is a view", CAPPED + "|it is a capped collection" })
	void collectionOfTheFencesIsRefusedIfThereAreFences(String kind, String reason) {
		create("locks.fences", kind);
		assertRefused(repository(StatementDialect.AUTO), "locks.fences': " + reason);
		assertThat(acquire(repository(StatementDialect.AUTO, false), "stock")).isTrue();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { VIEW + "|that is a view or a time series collection",
			TIME_SERIES + "|that is a view or a time series collection", CAPPED + "|the collection is capped" })
	void userWhoMayNotListCollectionsGetsTheCauseFromTheFirstRequest(String kind, String reason) {
		Assumptions.assumeFalse(kind.equals(CAPPED) && !refusesIndexOfCapped());
		this.server.failCommand(FailCommand.on("listCollections").errorCode(13));
		create("locks", kind);
		MongoLockRepository locks = repository(StatementDialect.AUTO);
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
				.isThrownBy(() -> acquire(locks, "stock"))
				.withMessageContaining("'stock'")
				.withMessageContaining(reason)
				.withMessageContaining("dblock.mongodb.collection");
		}
	}

	private boolean refusesIndexOfCapped() {
		String version = this.server.client()
			.getDatabase("admin")
			.runCommand(new Document("buildInfo", 1))
			.getString("version");
		return version.startsWith("6.");
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void validatorIsNamed(StatementDialect dialect) {
		create("locks", "{validator: {price: {$exists: true}}}");
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> acquire(repository(dialect), "stock"))
			.withMessageContaining("'stock'")
			.withMessageContaining("a validator of the collection does not accept the document")
			.withMessageNotContaining("classic");
	}

	@Test
	void validatorOfTheDocumentsOfLocksIsAccepted() {
		create("locks", "{validator: {_id: {$type: 'string'}, holder: {$ne: 'nobody'}}}");
		assertThat(acquire(repository(StatementDialect.AUTO), "stock")).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void uniqueIndexIsNamed(StatementDialect dialect) {
		this.database.getCollection("locks")
			.createIndex(Indexes.ascending("acquirer"), new IndexOptions().unique(true));
		MongoLockRepository locks = repository(dialect);
		assertThat(acquire(locks, "a")).isTrue();
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class).isThrownBy(() -> acquire(locks, "b"))
			.withMessageContaining("'b'")
			.withMessageContaining("the collection has the unique index 'acquirer_1'")
			.withMessageContaining("Drop that index")
			.withMessageNotContaining("classic");
	}

	@Test
	void uniqueIndexOfTheHolderIsNamedWhenASecondLockIsReleased() {
		this.database.getCollection("locks").createIndex(Indexes.ascending("holder"), new IndexOptions().unique(true));
		MongoLockRepository locks = repository(StatementDialect.PIPELINE);
		LeaseKey first = LockRepositoryContract.key("a");
		LeaseKey second = LockRepositoryContract.key("b");
		assertThat(acquire(locks, first)).isTrue();
		assertThat(acquire(locks, second)).isTrue();
		assertThat(locks.release(first, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> locks.release(second, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT))
			.withMessageContaining("the unique index 'holder_1'");
	}

	@Test
	void sparseUniqueIndexOfTheHolderIsHarmless() {
		this.database.getCollection("locks")
			.createIndex(Indexes.ascending("holder"), new IndexOptions().unique(true).sparse(true));
		MongoLockRepository locks = repository(StatementDialect.PIPELINE);
		for (String name : List.of("a", "b")) {
			LeaseKey key = LockRepositoryContract.key(name);
			assertThat(acquire(locks, key)).isTrue();
			assertThat(locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		}
	}

	@ParameterizedTest
	@CsvSource({ "acquiredAt, 864000, false", "updatedAt, 60, false", "expiresAt, 0, false", "releasedAt, 3600, false",
			"updatedAt, 86400, true", "cleanUpAt, 3600, true", "price, 0, true" })
	void indexThatRemovesDocumentsTooEarlyIsRefused(String field, int seconds, boolean accepted) {
		this.database.runCommand(new Document("createIndexes", "locks").append("indexes", List
			.of(new Document(Map.of("key", new Document(field, 1), "name", "mine", "expireAfterSeconds", seconds)))));
		MongoLockRepository locks = repository(StatementDialect.AUTO);
		if (accepted) {
			assertThat(acquire(locks, "stock")).isTrue();
			return;
		}
		for (int i = 0; i < 2; i++) {
			assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
				.isThrownBy(() -> acquire(locks, "stock"))
				.withMessageContaining(
						"its TTL index 'mine' removes documents that are in use, %d s after the date '%s'"
							.formatted(seconds, field));
		}
	}

	@Test
	void clusteredCollectionIsAccepted() {
		create("locks", "{clusteredIndex: {key: {_id: 1}, unique: true}}");
		MongoLockRepository locks = repository(StatementDialect.AUTO);
		LeaseKey key = LockRepositoryContract.key("stock");
		assertThat(acquire(locks, key)).isTrue();
		assertThat(acquire(locks, "stock")).isFalse();
		assertThat(locks.renew(List.of(key), TIMEOUT)).isEmpty();
		assertThat(locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
	}

	private void createCaseInsensitive() {
		create("locks", "{collation: {locale: 'en', strength: 2}}");
	}

	@ParameterizedTest
	@EnumSource
	void collationIsLoggedOnce(StatementDialect dialect, CapturedOutput output) {
		createCaseInsensitive();
		MongoLockRepository locks = repository(dialect);
		acquire(locks, "a");
		acquire(locks, "b");
		locks.findAll(ListRequest.all(""));
		assertThat(output.getOut()).containsOnlyOnce(
				"The collection '%s.locks' has the collation 'en' as its default".formatted(this.database.getName()));
	}

	@ParameterizedTest
	@ValueSource(strings = { "{}", "{collation: {locale: 'simple'}}" })
	void simpleCollationIsNotLogged(String kind, CapturedOutput output) {
		create("locks", kind);
		acquire(repository(StatementDialect.AUTO), "a");
		assertThat(output.getOut()).doesNotContain("collation");
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	void anotherSpellingOfAStoredNameIsTheSameLockAndRenewed(StatementDialect dialect) {
		createCaseInsensitive();
		MongoLockRepository locks = repository(dialect);
		LeaseKey first = LockRepositoryContract.key("Stock");
		assertThat(acquire(locks, first)).isTrue();
		assertThat(locks.release(first, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		LeaseKey second = LockRepositoryContract.key("stock");
		LeaseKey gone = LockRepositoryContract.key("gone");
		assertThat(acquire(locks, second)).isTrue();
		assertThat(acquire(locks, gone)).isTrue();
		assertThat(locks.acquire(LockRepositoryContract.request(LockRepositoryContract.key("STOCK"), TIMEOUT)))
			.isInstanceOf(Refused.class);
		this.database.getCollection("locks").deleteOne(new Document("_id", "gone"));
		assertThat(locks.renew(List.of(second, gone), TIMEOUT)).containsOnlyKeys(gone);
		assertThat(locks.extend(second, Duration.ofMinutes(20), TIMEOUT)).isTrue();
		assertThat(locks.extendExactly(second, Duration.ofMinutes(5), TIMEOUT)).isTrue();
		assertThat(locks.release(second, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
		assertThat(acquire(locks, "STOCK")).isTrue();
	}

}
