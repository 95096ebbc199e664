package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import com.mongodb.MongoNamespace;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.client.model.Collation;
import com.mongodb.client.model.CollationStrength;
import com.mongodb.client.model.CreateCollectionOptions;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.core.lease.LockClock;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.PollPause;
import dev.dblock.core.queue.PollPause.WaitCause;
import dev.dblock.engine.LockEngine;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.observation.LockObserver;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoReplicaSet;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import dev.dblock.transaction.LockTransactions;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Two processes wait for each other's locks. Their polls are so rare that nothing but a
 * signal, or the end of a lease, can wake a waiter within a test.
 */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
@SameOnEachJdk
class ChangeStreamWaitingTests {

	private static final String COLLECTION = "locks";

	private static final String NAME = "stock";

	/**
	 * So long that no waiter sees its end.
	 */
	private static final Duration LEASE = Duration.ofMinutes(5);

	/** However long the machine stalls, threads that wait do not poll. */
	private static final FeedUse.Patience PATIENCE = new FeedUse.Patience(Duration.ofMillis(200), Duration.ofHours(1));

	private static final LockOptions PATIENTLY = LockOptions.defaults().waitUpTo(Duration.ofMinutes(4));

	private final List<AutoCloseable> resources = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private MongoServer server;

	private String database;

	private DefaultLockEngine one;

	private DefaultLockEngine other;

	@BeforeEach
	void setUp(MongoServer server) {
		this.server = server;
		this.database = server.freshDatabase();
		this.one = engine();
		this.other = engine();
	}

	@AfterEach
	void tearDown() throws Exception {
		this.threads.shutdownNow();
		for (int i = this.resources.size() - 1; i >= 0; i--) {
			this.resources.get(i).close();
		}
		eventually().untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName)
			.noneMatch((name) -> name.startsWith("dblock-")));
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
	void aReleaseWakesTheWaiterOfAnotherProcess() throws Exception {
		LockHandle held = take(this.one);
		for (int i = 0; i < 20; i++) {
			held = passTo((i % 2 == 0) ? this.other : this.one, held);
		}
		held.close();
		for (DefaultLockEngine engine : List.of(this.one, this.other)) {
			assertThat(engine.state().attempts(WaitCause.SIGNAL)).isGreaterThanOrEqualTo(10);
			assertThatNothingElseWoke(engine);
		}
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void anImmediateForcedReleaseWakesTheWaiterOfAnotherProcess() throws Exception {
		LockHandle forced = take(this.one);
		CompletableFuture<LockHandle> waiter = waitFor(this.other);
		awaitParked(this.other);
		assertThat(this.one.administration().forceReleaseNow(NAME)).isTrue();
		LockHandle held = waiter.get();
		assertThat(held.token()).isGreaterThan(forced.token());
		assertThat(forced.release()).isFalse();
		assertThat(held.release()).isTrue();
		assertThatNothingElseWoke(this.other);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aCursorThatIsKilledOnTheServerIsReplaced() throws Exception {
		LockHandle held = take(this.other);
		LockHandle later = take(this.other, "later", LockOptions.defaults());
		CompletableFuture<LockHandle> waiter = waitFor(this.one);
		CompletableFuture<LockHandle> laterWaiter = waitFor(this.one, "later");
		eventually().until(() -> this.one.parts().signals().waiters() == 2);
		List<Long> killed = eventually().until(this::cursors, (cursors) -> cursors.size() == 1);
		assertThat(database().runCommand(new Document("killCursors", COLLECTION).append("cursors", killed)))
			.containsEntry("cursorsKilled", killed);
		held.close();
		waiter.get().close();
		eventually().untilAsserted(() -> assertThat(cursors()).hasSize(1).doesNotContainAnyElementsOf(killed));
		later.close();
		laterWaiter.get().close();
		assertThatNothingElseWoke(this.one);
	}

	/**
	 * The names are one lock, whose release is reported with the other name.
	 */
	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aWaiterThatMissesItsSignalAsksBeforeItIsRefused() throws Exception {
		database().createCollection(COLLECTION, new CreateCollectionOptions()
			.collation(Collation.builder().locale("en").collationStrength(CollationStrength.SECONDARY).build()));
		LockHandle held = take(this.one, "STOCK", LockOptions.defaults());
		CompletableFuture<LockHandle> waiter = CompletableFuture.supplyAsync(
				() -> take(this.other, NAME, LockOptions.defaults().waitUpTo(Duration.ofSeconds(4))), this.threads);
		awaitParked(this.other);
		long signals = this.other.state().attempts(WaitCause.SIGNAL);
		held.close();
		assertThat(waiter.get().release()).isTrue();
		assertThat(this.other.state().attempts(WaitCause.SIGNAL)).isEqualTo(signals);
	}

	@ParameterizedTest
	@ValueSource(strings = { "drop", "rename" })
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void waitingContinuesInACollectionThatReplacedTheOldOne(String event) throws Exception {
		LockHandle gone = take(this.one);
		CompletableFuture<LockHandle> waiter = waitFor(this.other);
		if (event.equals("drop")) {
			database().getCollection(COLLECTION).drop();
		}
		else {
			database().getCollection(COLLECTION).renameCollection(new MongoNamespace(this.database, "elsewhere"));
		}
		LockHandle held = waiter.get();
		assertThat(gone.release()).isFalse();
		held = passTo(this.one, held);
		held = passTo(this.other, held);
		held.close();
		assertThatNothingElseWoke(this.other);
		assertThatNothingElseWoke(this.one);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
	void aStreamThatCannotBeResumedIsReopened(MongoServer server) throws Exception {
		LockHandle held = take(this.one);
		CompletableFuture<LockHandle> waiter = waitFor(this.other);
		long opened = server.commandCount("aggregate");
		server.failCommand(
				FailCommand.on("getMore").times(1).errorCode(286).errorLabels("NonResumableChangeStreamError"));
		eventually()
			.until(() -> server.commandCount("aggregate") > opened && this.other.parts().signals().isListening());
		held.close();
		waiter.get().close();
		assertThatNothingElseWoke(this.other);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.STANDALONE)
	void waitersPollWhereTheServerHasNoChangeStreams(CapturedOutput output) throws Exception {
		assertThatWaitersPoll(output);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.EMBEDDED)
	void waitersPollOnTheEmbeddedServer(CapturedOutput output) throws Exception {
		assertThatWaitersPoll(output);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
	void waitersPollWhereTheUserMayNotWatch(MongoServer server, CapturedOutput output) throws Exception {
		server.failCommand(FailCommand.on("aggregate").errorCode(13));
		assertThatWaitersPoll(output);
	}

	private void assertThatWaitersPoll(CapturedOutput output) throws Exception {
		EngineSettings.Poll poll = new EngineSettings.Poll(Duration.ofMillis(5), Duration.ofMillis(20));
		this.one = engine(poll);
		this.other = engine(poll);
		LockHandle held = take(this.one);
		for (int i = 0; i < 4; i++) {
			CompletableFuture<LockHandle> waiter = start(this.other, NAME);
			eventually().until(() -> this.other.state().attempts(WaitCause.POLL) > 0);
			held.close();
			waiter.get().close();
			held = take(this.one);
		}
		// The answer to an unused stream is ignored, so it is awaited with a waiter
		CompletableFuture<LockHandle> waiter = start(this.other, NAME);
		eventually().untilAsserted(() -> assertThat(output.getAll()).containsOnlyOnce("Waiters poll for their locks"));
		held.close();
		waiter.get().close();
		assertThat(this.other.state().attempts(WaitCause.SIGNAL)).isZero();
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aHolderThatCrashedIsTakenOverAtItsExpiry() throws Exception {
		AcquireAnswer crashed = repository().acquire(new AcquireRequest(new LeaseKey(NAME, "crashed"),
				Duration.ofSeconds(6), "host-2", "main", "nothing any more", Duration.ofSeconds(60)));
		assertThat(crashed).isInstanceOf(AcquireAnswer.Granted.class);
		LockHandle handle = waitFor(this.one).get();
		assertThat(handle.token()).isGreaterThan(((AcquireAnswer.Granted) crashed).lastToken());
		handle.close();
		assertThat(this.one.state().attempts(WaitCause.EXPIRY)).isBetween(1L, 3L);
		assertThat(this.one.state().attempts(WaitCause.POLL) + this.one.state().attempts(WaitCause.SLOW_POLL)).isZero();
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void theStreamIsClosedAfterAWhileWithoutWaiters() throws Exception {
		LockHandle held = take(this.one);
		assertThat(cursors()).isEmpty();
		for (int i = 0; i < 3; i++) {
			held = passTo((i % 2 == 0) ? this.other : this.one, held);
			eventually()
				.until(() -> !this.one.parts().signals().isListening() && !this.other.parts().signals().isListening());
			eventually().until(() -> cursors().isEmpty());
			eventually().until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().equals("dblock-feed")));
		}
		held.close();
		assertThat(this.one.parts().signals().waiters() + this.other.parts().signals().waiters()).isZero();
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aStreamThatWasReadForAWhileIsClosedOnTheServer() throws Exception {
		LockHandle held = take(this.one);
		CompletableFuture<LockHandle> waiter = waitFor(this.other);
		eventually().until(() -> openCursors().stream().anyMatch((cursor) -> cursor.getLong("nBatchesReturned") > 5));
		held.close();
		waiter.get().close();
		eventually().until(() -> cursors().isEmpty());
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aWaiterIsRefusedAtOnceWhenTheEngineIsClosed() throws Exception {
		LockHandle held = take(this.one);
		CompletableFuture<LockHandle> waiter = waitFor(this.other);
		this.other.close();
		assertThatExceptionOfType(java.util.concurrent.ExecutionException.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockShutdownException.class);
		assertThat(this.other.parts().queues().size()).isZero();
		assertThat(this.other.parts().signals().waiters()).isZero();
		eventually().until(() -> cursors().isEmpty());
		held.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "step down", "kill" })
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
	void everyWaiterProceedsOnceThoughThePrimaryChanges(String event, MongoReplicaSet server) throws Exception {
		EngineSettings.Poll poll = new EngineSettings.Poll(Duration.ofMillis(50), Duration.ofSeconds(1));
		List<DefaultLockEngine> engines = List.of(engine(poll), engine(poll));
		LockHandle held = take(engines.get(0));
		AtomicInteger inside = new AtomicInteger();
		AtomicInteger sections = new AtomicInteger();
		AtomicLong highest = new AtomicLong(held.token());
		List<CompletableFuture<Void>> all = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			DefaultLockEngine engine = engines.get(i % 2);
			all.add(CompletableFuture.runAsync(() -> {
				try (LockHandle handle = take(engine, NAME, PATIENTLY)) {
					assertThat(inside.incrementAndGet()).isEqualTo(1);
					assertThat(handle.token()).isGreaterThan(highest.getAndSet(handle.token()));
					sections.incrementAndGet();
					inside.decrementAndGet();
				}
			}, this.threads));
		}
		eventually().until(() -> waiters(engines.get(0)) + waiters(engines.get(1)) == 100);
		changePrimary(event, server);
		held.close();
		for (CompletableFuture<Void> each : all) {
			each.get();
		}
		assertThat(sections).hasValue(100);
		engines.forEach((engine) -> eventually().until(() -> engine.parts().queues().size() == 0));
	}

	/**
	 * A primary that steps down keeps its streams as a secondary; the stream of one that
	 * is killed has to be opened at the next.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "step down", "kill" })
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
	void releasesAreReportedAgainAfterAChangeOfThePrimary(String event, MongoReplicaSet server) throws Exception {
		LockHandle held = take(this.one);
		CompletableFuture<LockHandle> waiter = waitFor(this.other);
		awaitParked(this.other);
		changePrimary(event, server);
		server.awaitPrimary();
		if (event.equals("kill")) {
			eventually().ignoreExceptions().until(() -> !cursors().isEmpty());
		}
		awaitParked(this.other);
		held.close();
		waiter.get().close();
		assertThat(this.other.state().attempts(WaitCause.SIGNAL)).isPositive();
		assertThatNothingElseWoke(this.other);
	}

	private static void changePrimary(String event, MongoReplicaSet server) {
		if (event.equals("kill")) {
			server.killPrimary();
		}
		else {
			server.stepDown(60);
		}
	}

	private void assertThatNothingElseWoke(DefaultLockEngine engine) {
		for (WaitCause cause : List.of(WaitCause.EXPIRY, WaitCause.POLL, WaitCause.SLOW_POLL)) {
			assertThat(engine.state().attempts(cause)).as(cause.name()).isZero();
		}
	}

	private LockHandle passTo(DefaultLockEngine engine, LockHandle held) throws Exception {
		CompletableFuture<LockHandle> waiter = waitFor(engine);
		held.close();
		return waiter.get();
	}

	private CompletableFuture<LockHandle> waitFor(DefaultLockEngine engine) {
		return waitFor(engine, NAME);
	}

	private CompletableFuture<LockHandle> waitFor(DefaultLockEngine engine, String name) {
		CompletableFuture<LockHandle> waiter = start(engine, name);
		eventually().until(() -> engine.parts().signals().isListening() && engine.parts().signals().waiters() > 0);
		return waiter;
	}

	/**
	 * Wait until only the signal of a release, or a much later poll, can wake the waiter.
	 */
	private static void awaitParked(DefaultLockEngine engine) {
		eventually().until(() -> {
			LocalQueue queue = engine.parts().queues().find(NAME);
			PollPause.Plan plan = (queue != null) ? queue.plan() : null;
			return engine.parts().signals().isListening() && plan != null && plan.cause() == WaitCause.SLOW_POLL;
		});
	}

	private CompletableFuture<LockHandle> start(DefaultLockEngine engine, String name) {
		return CompletableFuture.supplyAsync(() -> take(engine, name, PATIENTLY), this.threads);
	}

	private static LockHandle take(DefaultLockEngine engine) {
		return take(engine, NAME, LockOptions.defaults());
	}

	private static LockHandle take(DefaultLockEngine engine, String name, LockOptions options) {
		return ((LockEngine.Granted) engine.acquire(name, options)).handle();
	}

	private static int waiters(DefaultLockEngine engine) {
		LocalQueue queue = engine.parts().queues().find(NAME);
		return (queue != null) ? queue.waiters() : 0;
	}

	private MongoDatabase database() {
		return this.server.client().getDatabase(this.database);
	}

	private List<Long> cursors() {
		return openCursors().stream().map((cursor) -> cursor.getLong("cursorId")).toList();
	}

	private List<Document> openCursors() {
		List<Document> cursors = new ArrayList<>();
		List<Document> pipeline = List.of(new Document("$currentOp", new Document("idleCursors", true)),
				new Document("$match", new Document("ns", this.database + "." + COLLECTION).append("cursor.cursorId",
						new Document("$exists", true))));
		this.server.client()
			.getDatabase("admin")
			.aggregate(pipeline)
			.forEach((op) -> cursors.add(op.get("cursor", Document.class)));
		return cursors;
	}

	private DefaultLockEngine engine() {
		return engine(LockWorld.RARE_POLLS, LockWorld.DEFAULTS.withLease(LEASE));
	}

	private DefaultLockEngine engine(EngineSettings.Poll poll) {
		return engine(poll, LockWorld.DEFAULTS);
	}

	private DefaultLockEngine engine(EngineSettings.Poll poll, LockOptions defaults) {
		EngineSettings settings = LockWorld.settings("");
		DefaultLockEngine engine = new DefaultLockEngine(repository(),
				new EngineSettings("", settings.acquirer(), defaults, Duration.ofSeconds(60), poll, settings.handOff()),
				List.of(), LockObserver.NONE, new LockTransactions(), LockClock.with(Duration.ofMillis(500)), PATIENCE);
		this.resources.add(engine);
		return engine;
	}

	/**
	 * Each process has a client of its own.
	 */
	private MongoLockRepository repository() {
		MongoClient client = MongoClients.create(this.server.uri());
		this.resources.add(client);
		return new MongoLockRepository(new SimpleMongoClientDatabaseFactory(client, this.database),
				new MongoLockSettings(COLLECTION, Duration.ofMillis(500), Duration.ofDays(1), Duration.ofSeconds(60),
						StatementDialect.AUTO, true));
	}

	private static ConditionFactory eventually() {
		return Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(10));
	}

}
