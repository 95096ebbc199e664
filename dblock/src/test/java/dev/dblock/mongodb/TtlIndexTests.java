package dev.dblock.mongodb;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import dev.dblock.core.LockRepositoryContract;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.store.RepositoryInterruptedException;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3, faults = true)
@ExtendWith(OutputCaptureExtension.class)
class TtlIndexTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private final AtomicLong nanoTime = new AtomicLong(System.nanoTime());

	private MongoServer server;

	private String database;

	private MongoLockRepository locks;

	@BeforeEach
	void openStore(MongoServer server) {
		this.server = server;
		this.database = server.freshDatabase();
		this.locks = repository(true);
	}

	private MongoLockRepository repository(boolean createIndexes) {
		return repository(this.database, createIndexes);
	}

	private MongoLockRepository repository(String database, boolean createIndexes) {
		return repository(this.server.client(), database, createIndexes);
	}

	private MongoLockRepository repository(MongoClient client, String database, boolean createIndexes) {
		return new MongoLockRepository(
				new SimpleMongoClientDatabaseFactory(client, database), new MongoLockSettings("locks",
						Duration.ofMillis(500), Duration.ofDays(1), TIMEOUT, StatementDialect.PIPELINE, createIndexes),
				this.nanoTime::get, System::currentTimeMillis);
	}

	private LeaseKey acquire(String name) {
		LeaseKey key = LockRepositoryContract.key(name);
		granted(key);
		return key;
	}

	private Granted granted(LeaseKey key) {
		AcquireAnswer answer = this.locks.acquire(LockRepositoryContract.request(key, Duration.ofSeconds(30)));
		assertThat(answer).isInstanceOf(Granted.class);
		return (Granted) answer;
	}

	private MongoCollection<Document> documents() {
		return this.server.client().getDatabase(this.database).getCollection("locks");
	}

	private List<String> indexes() {
		return documents().listIndexes()
			.into(new ArrayList<>())
			.stream()
			.map((index) -> index.getString("name"))
			.toList();
	}

	private void drop() {
		documents().drop();
	}

	private void pass(Duration time) {
		this.nanoTime.addAndGet(time.toNanos());
	}

	private long asked() {
		return this.server.commandCount("createIndexes");
	}

	@Test
	void nothingIsCreatedWhenTheRepositoryIs() {
		assertThat(indexes()).isEmpty();
		this.locks.find("stock");
		assertThat(indexes()).isEmpty();
	}

	@Test
	void theIndexIsCreatedOnceAtTheFirstAcquire() {
		long before = asked();
		for (int i = 0; i < 20; i++) {
			acquire("stock-" + i);
		}
		assertThat(indexes()).containsExactlyInAnyOrder("_id_", "cleanUpAt_1");
		assertThat(asked()).isEqualTo(before + 1);
	}

	@Test
	void itIsCreatedAgainWithinTenMinutesOfADrop() {
		acquire("stock");
		drop();
		pass(Duration.ofMinutes(9));
		acquire("stock");
		assertThat(indexes()).doesNotContain("cleanUpAt_1");
		pass(Duration.ofMinutes(2));
		acquire("other");
		assertThat(indexes()).contains("cleanUpAt_1");
	}

	@Test
	void itIsEnsuredEveryTenMinutes() {
		LeaseKey key = acquire("stock");
		this.locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		pass(Duration.ofSeconds(1));
		key = acquire("stock");
		documents().dropIndex("cleanUpAt_1");
		this.locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		pass(Duration.ofMinutes(9));
		key = acquire("stock");
		this.locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		assertThat(indexes()).doesNotContain("cleanUpAt_1");
		pass(Duration.ofMinutes(2));
		acquire("stock");
		assertThat(indexes()).contains("cleanUpAt_1");
	}

	@Test
	void cleanUpOfOldDocumentsLeavesThoseOfLocksInUseAndTokensRiseAfterIt() {
		acquire("held");
		this.locks.release(acquire("lately"), Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		LeaseKey key = LockRepositoryContract.key("old");
		Granted before = granted(key);
		this.locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT);
		documents().updateOne(new Document("_id", "old"),
				new Document("$set", new Document("cleanUpAt", Date.from(Instant.now().minusSeconds(60)))));
		Awaitility.await()
			.atMost(Duration.ofMinutes(3))
			.untilAsserted(() -> assertThat(documents().find()).extracting((document) -> document.get("_id"))
				.containsExactlyInAnyOrder("held", "lately"));
		assertThat(granted(LockRepositoryContract.key("old")).token()).isGreaterThan(before.lastToken());
	}

	@Test
	void aUserWithoutTheRightGetsOneWarningWithAdviceAndAWorkingLock(CapturedOutput output) {
		this.server.failCommand(FailCommand.on("createIndexes").errorCode(13));
		acquire("a");
		pass(Duration.ofMinutes(2));
		acquire("b");
		assertThat(output.getOut()).containsOnlyOnce("could not be created (13 Unauthorized: ")
			.doesNotContain("full response")
			.contains("remain. Grant the createIndex privilege, or run ")
			.contains("createIndex({cleanUpAt: 1}, {expireAfterSeconds: 0})");
		this.server.clearFailPoints();
		pass(Duration.ofSeconds(50));
		acquire("c");
		assertThat(indexes()).doesNotContain("cleanUpAt_1");
		pass(Duration.ofSeconds(20));
		acquire("d");
		assertThat(indexes()).contains("cleanUpAt_1");
	}

	@Test
	void eachCollectionIsNamedInAWarningOfItsOwn(CapturedOutput output) {
		this.server.failCommand(FailCommand.on("createIndexes").errorCode(13));
		String another = this.server.freshDatabase();
		for (String database : List.of(this.database, another)) {
			this.locks = repository(database, true);
			acquire("a");
			pass(Duration.ofMinutes(2));
			acquire("b");
		}
		for (String database : List.of(this.database, another)) {
			assertThat(output.getOut()).containsOnlyOnce("old documents from '%s.locks' could not".formatted(database))
				.containsOnlyOnce("run db.getSiblingDB('%s').getCollection('locks').createIndex(".formatted(database));
		}
	}

	@Test
	void aFailureAfterASuccessIsReportedAgain(CapturedOutput output) {
		this.server.failCommand(FailCommand.on("createIndexes").errorCode(50));
		acquire("a");
		this.server.clearFailPoints();
		pass(Duration.ofMinutes(2));
		acquire("b");
		assertThat(indexes()).contains("cleanUpAt_1");
		this.server.failCommand(FailCommand.on("createIndexes").errorCode(13));
		pass(Duration.ofMinutes(20));
		acquire("c");
		pass(Duration.ofMinutes(20));
		acquire("d");
		assertThat(output.getOut()).containsOnlyOnce("Check the load of MongoDB")
			.containsOnlyOnce("Grant the createIndex privilege");
	}

	@Test
	void anIndexThatTakesTooLongIsNotTakenForAMissingRight(CapturedOutput output) {
		this.server.failCommand(FailCommand.on("createIndexes").errorCode(50));
		acquire("stock");
		assertThat(output.getOut()).containsOnlyOnce("could not be created")
			.contains("remain. Check the load of MongoDB and that a majority of its replica set is up, or run ")
			.doesNotContain("Grant the createIndex privilege");
	}

	@Test
	void anIndexThatTakesTooLongDoesNotUseUpTheTimeOfTheAcquire() {
		List<Long> limits = new CopyOnWriteArrayList<>();
		CommandListener listener = new CommandListener() {

			@Override
			public void commandStarted(CommandStartedEvent event) {
				if (event.getCommandName().equals("createIndexes")) {
					limits.add(event.getCommand().getNumber("maxTimeMS").longValue());
				}
			}

		};
		this.server.failCommand(FailCommand.on("createIndexes").errorCode(50));
		try (MongoClient client = MongoClients.create(MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(this.server.uri()))
			.addCommandListener(listener)
			.build())) {
			this.locks = repository(client, this.database, true);
			acquire("stock");
		}
		assertThat(limits).singleElement()
			.satisfies((limit) -> assertThat(limit).isBetween(1L, TIMEOUT.toMillis() / 2));
	}

	@Test
	void nothingIsCreatedWhenItIsSwitchedOff() {
		this.locks = repository(false);
		acquire("stock");
		assertThat(indexes()).containsExactly("_id_");
	}

	@Test
	void anInterruptIsNotTakenForAMissingRight(CapturedOutput output) {
		Thread.currentThread().interrupt();
		try {
			assertThatExceptionOfType(RepositoryInterruptedException.class).isThrownBy(() -> acquire("stock"));
		}
		finally {
			assertThat(Thread.interrupted()).isTrue();
		}
		assertThat(output.getOut()).doesNotContain("could not be created");
		acquire("stock");
		pass(Duration.ofMinutes(2));
		acquire("other");
		assertThat(indexes()).contains("cleanUpAt_1");
	}

}
