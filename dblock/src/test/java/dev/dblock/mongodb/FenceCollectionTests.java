package dev.dblock.mongodb;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.LockRepositoryContract;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer.Granted;
import dev.dblock.store.LockRepository.FenceMark;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.OnEachServer;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When the index that removes old fences is ensured, and what is logged if it cannot be
 * created.
 */
@OnEachServer
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3, faults = true)
@ExtendWith(OutputCaptureExtension.class)
class FenceCollectionTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(60);

	private static final String WARNING = "The index that removes old fences from 'locks.fences' could not be created";

	private final AtomicLong nanoTime = new AtomicLong(System.nanoTime());

	private MongoServer server;

	private MongoDatabaseFactory factory;

	private MongoLockRepository locks;

	@BeforeEach
	void openStore(MongoServer server) {
		this.server = server;
		this.factory = new SimpleMongoClientDatabaseFactory(server.client(), server.freshDatabase());
		this.locks = repository(true);
	}

	private MongoLockRepository repository(boolean createIndexes) {
		return new MongoLockRepository(this.factory, new MongoLockSettings("locks", Duration.ofMillis(500),
				Duration.ofDays(1), TIMEOUT, StatementDialect.PIPELINE, createIndexes), this.nanoTime::get,
				System::currentTimeMillis);
	}

	private MongoCollection<Document> fences() {
		return this.factory.getMongoDatabase().getCollection("locks.fences");
	}

	private boolean isIndexed() {
		return fences().listIndexes()
			.into(new ArrayList<>())
			.stream()
			.anyMatch((index) -> index.getString("name").equals("updatedAt_1"));
	}

	private void pass(Duration time) {
		this.nanoTime.addAndGet(time.toNanos());
	}

	private void acquireAndRelease(String name) {
		LeaseKey key = LockRepositoryContract.key(name);
		assertThat(this.locks.acquire(LockRepositoryContract.request(key, Duration.ofSeconds(30))))
			.isInstanceOf(Granted.class);
		assertThat(this.locks.release(key, Duration.ZERO, FenceMark.KEEP, null, TIMEOUT)).isTrue();
	}

	private void takeOver(String name) {
		acquireAndRelease(name);
		this.locks.forceReleaseNow(name);
		this.factory.getMongoDatabase()
			.getCollection("locks")
			.updateOne(new Document("_id", name), new Document("$set", new Document("fencePending", true)));
		acquireAndRelease(name);
	}

	private void fence(String name) {
		FencedTransactions fenced = this.locks.fencedTransactions();
		try (ClientSession session = this.factory.getSession(ClientSessionOptions.builder().build())) {
			session.startTransaction();
			MongoClient client = (MongoClient) session.getOriginator();
			assertThat(fenced.write(client, session, LockRepositoryContract.key(name), 1, 0).failure()).isNull();
			session.commitTransaction();
		}
	}

	private void denied(String... commands) {
		this.server.failCommand(FailCommand.on(commands)
			.forCollection(this.factory.getMongoDatabase().getName(), "locks.fences")
			.errorCode(13));
	}

	@Test
	void aTakeOverMakesItAndAgainWithinTenMinutesOfADrop() {
		takeOver("stock");
		assertThat(isIndexed()).isTrue();
		fences().drop();
		pass(Duration.ofMinutes(9));
		takeOver("stock");
		assertThat(isIndexed()).isFalse();
		pass(Duration.ofMinutes(2));
		takeOver("stock");
		assertThat(isIndexed()).isTrue();
	}

	@Test
	void itIsEnsuredEveryTenMinutes() {
		FencedTransactions fenced = this.locks.fencedTransactions();
		fenced.prepare();
		fences().dropIndex("updatedAt_1");
		pass(Duration.ofMinutes(9));
		fenced.prepare();
		assertThat(isIndexed()).isFalse();
		pass(Duration.ofMinutes(2));
		fenced.prepare();
		assertThat(isIndexed()).isTrue();
	}

	@Test
	void anAcquireMakesItOnlyWhereSessionsAreFenced() {
		acquireAndRelease("stock");
		fence("stock");
		acquireAndRelease("stock");
		assertThat(isIndexed()).isFalse();
		this.locks.fencesSessions();
		acquireAndRelease("stock");
		assertThat(isIndexed()).isTrue();
		pass(Duration.ofSeconds(1));
		acquireAndRelease("stock");
		long before = this.server.commandCount("createIndexes");
		for (int i = 0; i < 5; i++) {
			pass(Duration.ofMinutes(1));
			acquireAndRelease("stock");
		}
		assertThat(this.server.commandCount("createIndexes")).isEqualTo(before);
	}

	@Test
	void anIndexThatIsMissingIsNotWaitedForByTheThreadWhoseFencedSessionIsOpen() {
		this.factory.getMongoDatabase().createCollection("locks.fences");
		DefaultLockEngine engine = new DefaultLockEngine(this.locks,
				new EngineSettings("", "here",
						new LockOptions(Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO, Duration.ZERO, true,
								WhenLost.NOTIFY, null, null),
						TIMEOUT, new EngineSettings.Poll(Duration.ofMillis(50), Duration.ofSeconds(1)),
						new EngineSettings.HandOff(0, Duration.ZERO)),
				List.of());
		try (engine;
				LockHandle lock = new DefaultLockTemplate(engine).acquire("stock");
				ClientSession session = this.factory.getSession(ClientSessionOptions.builder().build())) {
			session.startTransaction();
			new LockFence(this.locks).fence(session, lock);
			long before = this.server.commandCount("createIndexes");
			this.locks.fencedTransactions().prepare();
			assertThat(this.server.commandCount("createIndexes")).isEqualTo(before);
			acquireAndRelease("other");
			takeOver("another");
			assertThat(isIndexed()).isFalse();
			session.commitTransaction();
		}
		acquireAndRelease("other");
		assertThat(isIndexed()).isTrue();
	}

	@Test
	void nothingIsCreatedWhenItIsSwitchedOff() {
		this.locks = repository(false);
		long before = this.server.commandCount("createIndexes");
		this.locks.fencesSessions();
		this.locks.fencedTransactions().prepare();
		takeOver("stock");
		pass(Duration.ofHours(1));
		this.locks.fencedTransactions().prepare();
		takeOver("stock");
		assertThat(isIndexed()).isFalse();
		assertThat(this.server.commandCount("createIndexes")).isEqualTo(before);
	}

	@Test
	void aUserWithoutTheRightGetsOneWarningAndFences(CapturedOutput output) {
		denied("createIndexes");
		for (String name : List.of("a", "b", "c")) {
			this.locks.fencedTransactions().prepare();
			takeOver(name);
			pass(Duration.ofMinutes(2));
		}
		assertThat(output.getOut()).containsOnlyOnce(WARNING)
			.contains("Transactions are fenced without it")
			.contains("Grant the createIndex privilege, or run ");
	}

	@Test
	void aCollectionThatCannotBeCreatedEitherIsLoggedOnce(CapturedOutput output) {
		denied("createIndexes", "create");
		for (int i = 0; i < 5; i++) {
			this.locks.fencedTransactions().prepare();
			pass(Duration.ofMinutes(1));
		}
		assertThat(output.getOut()).containsOnlyOnce(WARNING)
			.contains("nor could the collection itself")
			.contains("Grant the find, insert, update and createIndex privileges there")
			.doesNotContain("fenced without it");
	}

	@Test
	void aFailureAfterASuccessIsReportedAgain(CapturedOutput output) {
		denied("createIndexes");
		this.locks.fencedTransactions().prepare();
		this.server.clearFailPoints();
		pass(Duration.ofMinutes(2));
		this.locks.fencedTransactions().prepare();
		assertThat(isIndexed()).isTrue();
		denied("createIndexes");
		pass(Duration.ofMinutes(20));
		this.locks.fencedTransactions().prepare();
		assertThat(output.getOut().split(WARNING, -1)).hasSize(3);
	}

}
