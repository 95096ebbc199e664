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
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.engine.LockAttempt;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.mongodb.request.StatementDialect;
import dev.dblock.observation.LockObserver;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.PollSettings;
import dev.dblock.store.AcquireAnswer;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoReplicaSet;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
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
class ChangeStreamWaitingTests {

	private static final String COLLECTION = "locks";

	private static final Duration NEVER = Duration.ofHours(1);

	/**
	 * So long that no waiter sees its end.
	 */
	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration IDLE = Duration.ofMillis(200);

	private static final LockOptions PATIENTLY = LockOptions.defaults().waitUpTo(Duration.ofMinutes(4));

	private final List<AutoCloseable> resources = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private MongoServer server;

	private String database;

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
	void aReleaseWakesTheWaiterOfAnotherProcess(MongoServer server) throws Exception {
		use(server);
		DefaultLockEngine one = engine();
		DefaultLockEngine other = engine();
		LockHandle held = take(one, "stock");
		for (int i = 0; i < 20; i++) {
			DefaultLockEngine waiting = (i % 2 == 0) ? other : one;
			held = passTo(waiting, "stock", held);
		}
		held.close();
		for (DefaultLockEngine engine : List.of(one, other)) {
			assertThat(engine.waits().of(WaitCause.SIGNAL)).isGreaterThanOrEqualTo(10);
			assertThatNothingElseWoke(engine);
		}
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void anImmediateForcedReleaseWakesTheWaiterOfAnotherProcess(MongoServer server) throws Exception {
		use(server);
		DefaultLockEngine one = engine();
		DefaultLockEngine other = engine();
		LockHandle forced = take(one, "stock");
		CompletableFuture<LockHandle> waiter = waitFor(other, "stock");
		awaitParked(other);
		assertThat(one.administration().forceReleaseNow("stock")).isTrue();
		LockHandle held = waiter.get();
		assertThat(held.token()).isGreaterThan(forced.token());
		assertThat(forced.release()).isFalse();
		assertThat(held.release()).isTrue();
		assertThatNothingElseWoke(other);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aCursorThatIsKilledOnTheServerIsReplaced(MongoServer server) throws Exception {
		use(server);
		DefaultLockEngine one = engine();
		DefaultLockEngine other = engine();
		LockHandle held = take(other, "stock");
		LockHandle later = take(other, "later");
		CompletableFuture<LockHandle> waiter = waitFor(one, "stock");
		CompletableFuture<LockHandle> laterWaiter = waitFor(one, "later");
		eventually().until(() -> one.signals().waiters() == 2);
		List<Long> killed = eventually().until(this::cursors, (cursors) -> cursors.size() == 1);
		assertThat(database().runCommand(new Document("killCursors", COLLECTION).append("cursors", killed)))
			.containsEntry("cursorsKilled", killed);
		held.close();
		waiter.get().close();
		eventually().untilAsserted(() -> assertThat(cursors()).hasSize(1).doesNotContainAnyElementsOf(killed));
		later.close();
		laterWaiter.get().close();
		assertThatNothingElseWoke(one);
	}

	@ParameterizedTest
	@ValueSource(strings = { "drop", "rename" })
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void waitingGoesOnInACollectionThatTookThePlaceOfTheOldOne(String event, MongoServer server) throws Exception {
		use(server);
		DefaultLockEngine one = engine();
		DefaultLockEngine other = engine();
		LockHandle gone = take(one, "stock");
		CompletableFuture<LockHandle> waiter = waitFor(other, "stock");
		if (event.equals("drop")) {
			database().getCollection(COLLECTION).drop();
		}
		else {
			database().getCollection(COLLECTION).renameCollection(new MongoNamespace(this.database, "elsewhere"));
		}
		LockHandle held = waiter.get();
		assertThat(gone.release()).isFalse();
		held = passTo(one, "stock", held);
		held = passTo(other, "stock", held);
		held.close();
		assertThatNothingElseWoke(other);
		assertThatNothingElseWoke(one);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
	void aStreamThatCannotBeResumedBeginsAnew(MongoServer server) throws Exception {
		use(server);
		DefaultLockEngine one = engine();
		DefaultLockEngine other = engine();
		LockHandle held = take(one, "stock");
		CompletableFuture<LockHandle> waiter = waitFor(other, "stock");
		long opened = server.commandCount("aggregate");
		server.failCommand(
				FailCommand.on("getMore").times(1).errorCode(286).errorLabels("NonResumableChangeStreamError"));
		eventually().until(() -> server.commandCount("aggregate") > opened && other.signals().isListening());
		held.close();
		waiter.get().close();
		assertThatNothingElseWoke(other);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.STANDALONE)
	void waitersPollWhereTheServerHasNoChangeStreams(MongoServer server, CapturedOutput output) throws Exception {
		assertThatWaitersPoll(server, output);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.EMBEDDED)
	void waitersPollOnTheEmbeddedServer(MongoServer server, CapturedOutput output) throws Exception {
		assertThatWaitersPoll(server, output);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
	void waitersPollWhereTheUserMayNotWatch(MongoServer server, CapturedOutput output) throws Exception {
		server.failCommand(FailCommand.on("aggregate").errorCode(13));
		assertThatWaitersPoll(server, output);
	}

	private void assertThatWaitersPoll(MongoServer server, CapturedOutput output) throws Exception {
		use(server);
		PollSettings poll = new PollSettings(Duration.ofMillis(5), Duration.ofMillis(20));
		DefaultLockEngine one = engine(poll);
		DefaultLockEngine other = engine(poll);
		LockHandle held = take(one, "stock");
		for (int i = 0; i < 4; i++) {
			CompletableFuture<LockHandle> waiter = start(other, "stock");
			eventually().until(() -> other.waits().of(WaitCause.POLL) > 0);
			held.close();
			waiter.get().close();
			held = take(one, "stock");
		}
		held.close();
		assertThat(other.waits().of(WaitCause.SIGNAL)).isZero();
		eventually().untilAsserted(() -> assertThat(output.getAll()).containsOnlyOnce("Waiters poll for their locks"));
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void aHolderThatCrashedIsTakenOverAtItsExpiry(MongoServer server) throws Exception {
		use(server);
		AcquireAnswer crashed = repository().acquire(new AcquireRequest(new LeaseKey("stock", "crashed"),
				Duration.ofSeconds(6), "host-2", "main", "nothing any more", Duration.ofSeconds(60)));
		assertThat(crashed).isInstanceOf(AcquireAnswer.Granted.class);
		DefaultLockEngine engine = engine();
		LockHandle handle = waitFor(engine, "stock").get();
		assertThat(handle.token()).isGreaterThan(((AcquireAnswer.Granted) crashed).lastToken());
		handle.close();
		assertThat(engine.waits().of(WaitCause.EXPIRY)).isBetween(1L, 3L);
		assertThat(engine.waits().of(WaitCause.POLL) + engine.waits().of(WaitCause.SLOW_POLL)).isZero();
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void theStreamIsClosedWhenNobodyHasWaitedForAWhile(MongoServer server) throws Exception {
		use(server);
		DefaultLockEngine one = engine();
		DefaultLockEngine other = engine();
		LockHandle held = take(one, "stock");
		assertThat(cursors()).isEmpty();
		for (int i = 0; i < 3; i++) {
			held = passTo((i % 2 == 0) ? other : one, "stock", held);
			eventually().until(() -> !one.signals().isListening() && !other.signals().isListening());
			eventually().until(() -> cursors().isEmpty());
			eventually().until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().equals("dblock-releases")));
		}
		held.close();
		assertThat(one.signals().waiters() + other.signals().waiters()).isZero();
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void whoWaitsIsToldAtOnceWhenTheEngineIsClosed(MongoServer server) throws Exception {
		use(server);
		DefaultLockEngine one = engine();
		DefaultLockEngine other = engine();
		LockHandle held = take(one, "stock");
		CompletableFuture<LockHandle> waiter = waitFor(other, "stock");
		other.close();
		assertThatExceptionOfType(java.util.concurrent.ExecutionException.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockShutdownException.class);
		assertThat(other.queues().size()).isZero();
		assertThat(other.signals().waiters()).isZero();
		eventually().until(() -> cursors().isEmpty());
		held.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "step down", "kill" })
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
	void everyWaiterProceedsOnceThoughThePrimaryChanges(String event, MongoReplicaSet server) throws Exception {
		use(server);
		PollSettings poll = new PollSettings(Duration.ofMillis(50), Duration.ofSeconds(1));
		List<DefaultLockEngine> engines = List.of(engine(poll), engine(poll));
		LockHandle held = take(engines.get(0), "stock");
		AtomicInteger inside = new AtomicInteger();
		AtomicInteger sections = new AtomicInteger();
		AtomicLong highest = new AtomicLong(held.token());
		List<CompletableFuture<Void>> all = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			DefaultLockEngine engine = engines.get(i % 2);
			all.add(CompletableFuture.runAsync(() -> {
				try (LockHandle handle = take(engine, "stock", PATIENTLY)) {
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
		engines.forEach((engine) -> eventually().until(() -> engine.queues().size() == 0));
	}

	/**
	 * A primary that steps down goes on with its streams as a secondary; the stream of
	 * one that is killed has to be opened at the next.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "step down", "kill" })
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
	void releasesAreToldAgainWhenThePrimaryHasChanged(String event, MongoReplicaSet server) throws Exception {
		use(server);
		DefaultLockEngine one = engine();
		DefaultLockEngine other = engine();
		LockHandle held = take(one, "stock");
		CompletableFuture<LockHandle> waiter = waitFor(other, "stock");
		awaitParked(other);
		changePrimary(event, server);
		server.awaitPrimary();
		if (event.equals("kill")) {
			eventually().ignoreExceptions().until(() -> !cursors().isEmpty());
		}
		awaitParked(other);
		held.close();
		waiter.get().close();
		assertThat(other.waits().of(WaitCause.SIGNAL)).isPositive();
		assertThatNothingElseWoke(other);
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
		for (WaitCause cause : List.of(WaitCause.EXPIRY, WaitCause.UNTOLD, WaitCause.POLL, WaitCause.SLOW_POLL)) {
			assertThat(engine.waits().of(cause)).as(cause.name()).isZero();
		}
	}

	private LockHandle passTo(DefaultLockEngine engine, String name, LockHandle held) throws Exception {
		CompletableFuture<LockHandle> waiter = waitFor(engine, name);
		held.close();
		return waiter.get();
	}

	private CompletableFuture<LockHandle> waitFor(DefaultLockEngine engine, String name) {
		CompletableFuture<LockHandle> waiter = start(engine, name);
		eventually().until(() -> engine.signals().isListening() && engine.signals().waiters() > 0);
		return waiter;
	}

	/**
	 * Wait until the waiter has nothing to wait for but that it is told of a release, and
	 * much later a poll.
	 */
	private static void awaitParked(DefaultLockEngine engine) {
		eventually().until(() -> {
			LocalQueue queue = engine.queues().find("stock");
			AskPlan plan = (queue != null) ? queue.plan() : null;
			return engine.signals().isListening() && plan != null && plan.cause() == WaitCause.SLOW_POLL;
		});
	}

	private CompletableFuture<LockHandle> start(DefaultLockEngine engine, String name) {
		return CompletableFuture.supplyAsync(() -> take(engine, name, PATIENTLY), this.threads);
	}

	private static LockHandle take(DefaultLockEngine engine, String name) {
		return take(engine, name, LockOptions.defaults());
	}

	private static LockHandle take(DefaultLockEngine engine, String name, LockOptions options) {
		return ((LockAttempt.Granted) engine.acquire(name, options)).handle();
	}

	private static int waiters(DefaultLockEngine engine) {
		LocalQueue queue = engine.queues().find("stock");
		return (queue != null) ? queue.waiters() : 0;
	}

	private void use(MongoServer server) {
		this.server = server;
		this.database = server.freshDatabase();
	}

	private MongoDatabase database() {
		return this.server.client().getDatabase(this.database);
	}

	private List<Long> cursors() {
		List<Long> cursors = new ArrayList<>();
		List<Document> pipeline = List.of(new Document("$currentOp", new Document("idleCursors", true)),
				new Document("$match", new Document("ns", this.database + "." + COLLECTION).append("cursor.cursorId",
						new Document("$exists", true))));
		this.server.client()
			.getDatabase("admin")
			.aggregate(pipeline)
			.forEach((op) -> cursors.add(op.get("cursor", Document.class).getLong("cursorId")));
		return cursors;
	}

	private DefaultLockEngine engine() {
		return engine(new PollSettings(NEVER, NEVER), LockWorld.DEFAULTS.withLease(LEASE));
	}

	private DefaultLockEngine engine(PollSettings poll) {
		return engine(poll, LockWorld.DEFAULTS);
	}

	private DefaultLockEngine engine(PollSettings poll, LockOptions defaults) {
		EngineSettings settings = LockWorld.settings("");
		DefaultLockEngine engine = new DefaultLockEngine(repository(),
				new EngineSettings("", settings.acquirer(), defaults, Duration.ofSeconds(60), poll, settings.handOff()),
				List.of(), LockObserver.NONE, new LockTransactions(), LockClock.SYSTEM, IDLE);
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
