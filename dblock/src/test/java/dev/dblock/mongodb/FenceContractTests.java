package dev.dblock.mongodb;

import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.List;

import com.mongodb.client.MongoCollection;
import dev.dblock.core.LockRepositoryContract;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.OnEachServer;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

/**
 * The stored form of fences, in both dialects.
 */
@OnEachServer
class FenceContractTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final List<String> SLOT = List.of("_id", "slot");

	private MongoLockRepository locks;

	private MongoCollection<Document> documents;

	private MongoCollection<Document> fences;

	private void open(MongoServer server, StatementDialect dialect, boolean createIndexes) {
		String database = server.freshDatabase();
		this.documents = server.client().getDatabase(database).getCollection("locks");
		this.fences = server.client().getDatabase(database).getCollection("locks.fences");
		this.locks = new MongoLockRepository(new SimpleMongoClientDatabaseFactory(server.client(), database),
				new MongoLockSettings("locks", Duration.ofMillis(500), Duration.ofDays(1), TIMEOUT, dialect,
						createIndexes));
	}

	private Granted acquire(LeaseKey key) {
		return (Granted) this.locks.acquire(LockRepositoryContract.request(key, Duration.ofSeconds(30)));
	}

	private Granted takeOver(LeaseKey key) {
		this.documents.updateOne(new Document("_id", "stock"),
				new Document("$set", new Document("expiresAt", new Date(System.currentTimeMillis() - 60_000))));
		return acquire(key);
	}

	private Document stored() {
		return this.documents.find(new Document("_id", "stock")).first();
	}

	private static LeaseKey key() {
		return LockRepositoryContract.key("stock");
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aTakeOverRaisesAllFences(StatementDialect dialect, MongoServer server) {
		open(server, dialect, true);
		assertThat(acquire(key()).fenceRaised()).isFalse();
		assertThat(this.fences.countDocuments()).isZero();
		for (int i = 0; i < 2; i++) {
			Granted granted = takeOver(key());
			assertThat(granted.fenceRaised()).isTrue();
			assertThat(this.fences.find()).hasSize(4)
				.allSatisfy((fence) -> assertThat(fence).containsEntry("token", granted.token())
					.containsKeys("updatedAt", "writes"));
		}
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aTakeOverOfAPermitRaisesItsFencesOnly(StatementDialect dialect, MongoServer server) {
		open(server, dialect, true);
		assertThat(acquire(LeaseKey.of("stock", "first", 2)).permit()).isEqualTo(1);
		assertThat(acquire(LeaseKey.of("stock", "second", 2)).permit()).isEqualTo(2);
		this.documents.updateOne(new Document("_id", "stock (permit 2)"),
				new Document("$set", new Document("expiresAt", new Date(0))));
		Granted granted = acquire(LeaseKey.of("stock", "successor", 2));
		assertThat(granted.fenceRaised()).isTrue();
		assertThat(granted.permit()).isEqualTo(2);
		assertThat(this.fences.find()).hasSize(4)
			.allSatisfy((fence) -> assertThat(fence).containsEntry("token", granted.token()))
			.allSatisfy(
					(fence) -> assertThat(fence.get("_id", Document.class)).containsEntry("name", "stock (permit 2)"));
		this.documents.updateOne(new Document("_id", "stock (permit 2)"),
				new Document("$set", new Document("expiresAt", new Date(0)).append("permits", 5)));
		assertThat(acquire(LeaseKey.of("stock", "other", 2)).earlierPermits()).isEqualTo(5);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aRepeatedRequestRaisesThemToo(StatementDialect dialect, MongoServer server) {
		open(server, dialect, true);
		acquire(key());
		LeaseKey successor = key();
		takeOver(successor);
		this.fences.deleteMany(new Document());
		assertThat(acquire(successor).fenceRaised()).isTrue();
		assertThat(this.fences.countDocuments()).isEqualTo(4);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aRenewalAfterTheRaiseRemovesTheMarkAndAnEarlierOneDoesNot(StatementDialect dialect, MongoServer server) {
		open(server, dialect, true);
		LeaseKey first = key();
		acquire(first);
		this.documents.updateOne(new Document("_id", "stock"),
				new Document("$set", new Document("fencePending", true)));
		assertThat(this.locks.renew(List.of(first), TIMEOUT)).isEmpty();
		assertThat(stored()).containsEntry("fencePending", true);
		LeaseKey second = key();
		takeOver(second);
		assertThat(stored()).containsEntry("fencePending", true);
		assertThat(this.locks.renew(List.of(second), TIMEOUT)).isEmpty();
		assertThat(stored()).containsEntry("fencePending", false);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aReleaseKeepsRemovesOrSetsTheMark(StatementDialect dialect, MongoServer server) {
		open(server, dialect, true);
		for (Duration minHold : List.of(Duration.ZERO, Duration.ofSeconds(1))) {
			assertThat(markAfter(FenceMark.KEEP, minHold, true)).isTrue();
			assertThat(markAfter(FenceMark.KEEP, minHold, false)).isFalse();
			assertThat(markAfter(FenceMark.CLEAR, minHold, true)).isFalse();
			assertThat(markAfter(FenceMark.SET, minHold, false)).isTrue();
			assertThat(stored()).doesNotContainKey("holder");
			assertThat(stored().getDate("releasedAt")).isNotNull();
			assertThat(stored().containsKey("expiresAt")).isEqualTo(!minHold.isZero());
		}
	}

	private boolean markAfter(FenceMark mark, Duration minHold, boolean before) {
		LeaseKey key = key();
		takeOver(key);
		this.documents.updateOne(new Document("_id", "stock"),
				new Document("$set", new Document("fencePending", before)));
		assertThat(this.locks.release(key, minHold, mark, null, TIMEOUT)).isTrue();
		return stored().getBoolean("fencePending");
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	@MongoServerTest(kind = MongoServerKind.STANDALONE)
	void whereThereAreNoTransactionsNothingIsRaised(StatementDialect dialect, MongoServer server) {
		open(server, dialect, true);
		acquire(key());
		LeaseKey successor = key();
		assertThat(takeOver(successor).fenceRaised()).isFalse();
		this.locks.renew(List.of(successor), TIMEOUT);
		assertThat(stored()).containsEntry("fencePending", true);
		assertThat(this.fences.countDocuments()).isZero();
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.EMBEDDED)
	void theEmbeddedServerIsNotAskedForFences(MongoServer server) {
		open(server, StatementDialect.CLASSIC, true);
		acquire(key());
		assertThat(takeOver(key()).fenceRaised()).isFalse();
		assertThat(this.fences.countDocuments()).isZero();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void theCollectionIsMadeWithTheIndexThatRemovesOldFences(StatementDialect dialect, MongoServer server) {
		open(server, dialect, true);
		this.locks.fencedTransactions().prepare();
		assertThat(this.fences.listIndexes()).anySatisfy((index) -> {
			assertThat(index).containsEntry("key", new Document("updatedAt", 1));
			assertThat(index.get("expireAfterSeconds", Number.class).intValue()).isEqualTo(86_400);
		});
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void cleanUpOfOldDocumentsRemovesAFenceADayAfterItsLastWrite(StatementDialect dialect, MongoServer server) {
		open(server, dialect, true);
		this.locks.fencedTransactions().prepare();
		acquire(key());
		takeOver(key());
		writtenHoursAgo(0, 25);
		writtenHoursAgo(1, 23);
		Awaitility.await()
			.atMost(Duration.ofMinutes(3))
			.untilAsserted(
					() -> assertThat(this.fences.find()).extracting((fence) -> fence.getEmbedded(SLOT, Integer.class))
						.containsExactlyInAnyOrder(1, 2, 3));
	}

	private void writtenHoursAgo(int slot, int hours) {
		Date then = Date.from(Instant.now().minus(Duration.ofHours(hours)));
		assertThat(this.fences
			.updateOne(new Document("_id.slot", slot), new Document("$set", new Document("updatedAt", then)))
			.getMatchedCount()).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "AUTO")
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void theCollectionIsCreatedWithoutAnIndexWhereNoneIsConfigured(StatementDialect dialect, MongoServer server) {
		open(server, dialect, false);
		this.locks.fencedTransactions().prepare();
		assertThat(this.fences.listIndexes()).hasSize(1);
		assertThatCode(this.locks::createFences).as("it is there already").doesNotThrowAnyException();
	}

}
