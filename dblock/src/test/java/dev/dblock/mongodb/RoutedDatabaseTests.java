package dev.dblock.mongodb;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoDatabase;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.WhenLost;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.EngineState.ReleaseNews;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.observation.LockObserver;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.reactive.ReactiveTransactions;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.transaction.LockTransactions;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.ReactiveMongoTransactionManager;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleReactiveMongoDatabaseFactory;
import org.springframework.transaction.reactive.TransactionalOperator;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application whose factory has a database for each tenant, by thread. In the
 * renewal's thread there is no tenant, and the work changes or loses its own.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class RoutedDatabaseTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	/** Renewed soon, but not lost on a machine that stalls for some seconds. */
	private static final LockOptions SHORT = LockOptions.lease(Duration.ofSeconds(15));

	private static final String NOBODY = "nobody";

	private final ThreadLocal<@Nullable String> tenant = new ThreadLocal<>();

	private final List<DefaultLockEngine> engines = new ArrayList<>();

	private final LockTransactions transactions = new LockTransactions();

	private MongoClient client;

	private String main;

	private String acme;

	@BeforeEach
	void findDatabases(MongoServer server) {
		this.client = server.client();
		this.main = server.freshDatabase();
		this.acme = server.freshDatabase();
	}

	@AfterEach
	void close() {
		this.engines.forEach(DefaultLockEngine::close);
	}

	private MongoDatabaseFactory routed() {
		return new SimpleMongoClientDatabaseFactory(this.client, this.main) {

			@Override
			protected MongoDatabase doGetMongoDatabase(String name) {
				String tenant = RoutedDatabaseTests.this.tenant.get();
				if (NOBODY.equals(tenant)) {
					throw new IllegalStateException("unknown tenant");
				}
				return super.doGetMongoDatabase((tenant != null) ? tenant : name);
			}

		};
	}

	private LockTemplate locks(MongoDatabaseFactory factory) {
		return new DefaultLockTemplate(engine(factory));
	}

	private DefaultLockEngine engine(MongoDatabaseFactory factory) {
		LockOptions options = new LockOptions(Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO, Duration.ZERO, true,
				WhenLost.NOTIFY, null, null);
		DefaultLockEngine engine = new DefaultLockEngine(new MongoLockRepository(factory, MongoLockSettings.defaults()),
				EngineSettings.defaults("here").withDefaults(options), List.of(), LockObserver.NONE, this.transactions);
		this.engines.add(engine);
		return engine;
	}

	private @Nullable Document stored() {
		return stored(this.main, "dblock_locks");
	}

	private @Nullable Document stored(String database, String collection) {
		return this.client.getDatabase(database).getCollection(collection).find().first();
	}

	@Test
	void aLockIsRenewedAndReleasedWhereItWasGranted() {
		LockTemplate locks = locks(routed());
		for (String later : List.of(this.acme, NOBODY)) {
			LockHandle held = locks.acquire("stock", SHORT);
			Date granted = stored().getDate("updatedAt");
			this.tenant.set(later);
			Awaitility.await().atMost(PATIENCE).until(() -> stored().getDate("updatedAt").after(granted));
			held.extend(Duration.ofMinutes(5));
			assertThat(stored().getDate("expiresAt")).isAfter(Date.from(granted.toInstant().plusSeconds(240)));
			held.ensureHeld();
			assertThat(held.release()).isTrue();
			assertThat(stored()).doesNotContainKey("holder");
			assertThat(stored().getDate("releasedAt")).isNotNull();
			this.tenant.remove();
		}
		assertThat(stored(this.acme, "dblock_locks")).isNull();
	}

	@Test
	void aTenantIsRefusedAlsoWhileAnotherThreadHasTheLock() {
		LockTemplate locks = locks(routed());
		LockHandle held = locks.acquire("stock", SHORT);
		this.tenant.set(this.acme);
		LockOptions waiting = LockOptions.defaults().waitUpTo(PATIENCE);
		for (Runnable use : List.<Runnable>of(() -> locks.tryAcquire("stock"), () -> locks.tryAcquire("stock", waiting),
				() -> locks.acquire("stock", waiting))) {
			assertThatExceptionOfType(InvalidDataAccessApiUsageException.class).isThrownBy(use::run)
				.withMessageContaining("'" + this.acme + "'")
				.withMessageContaining("'" + this.main + "'")
				.withMessageContaining("dblock.mongodb.database-factory");
		}
		assertThat(locks.inspect("stock")).as("administration means the one database").isPresent();
		assertThat(locks.list().locks()).hasSize(1);
		assertThat(locks.forceRelease("stock")).isTrue();
		assertThat(held.release()).isFalse();
		assertThat(stored(this.acme, "dblock_locks")).isNull();
	}

	@Test
	void aWaiterIsNotifiedByTheStreamOfTheOneDatabase() throws Exception {
		DefaultLockEngine waiting = engine(routed());
		LockHandle held = locks(routed()).acquire("stock");
		CompletableFuture<LockHandle> waiter = CompletableFuture
			.supplyAsync(() -> new DefaultLockTemplate(waiting).acquire("stock", SHORT.waitUpTo(PATIENCE)));
		Awaitility.await().atMost(PATIENCE).until(() -> waiting.state().releases() == ReleaseNews.STREAM);
		this.tenant.set(this.acme);
		assertThat(held.release()).isTrue();
		assertThat(waiter.get().release()).isTrue();
	}

	@Test
	void aTransactionOfATenantIsFencedInTheDatabaseOfTheLocks() {
		MongoDatabaseFactory routed = routed();
		MongoTransactionManager manager = new MongoTransactionManager(routed);
		this.transactions.follow(manager);
		TransactionTemplate transaction = new TransactionTemplate(manager);
		this.client.getDatabase(this.acme).createCollection("orders");
		LockTemplate locks = locks(new SimpleMongoClientDatabaseFactory(this.client, this.main));
		this.tenant.set(this.acme);
		try (LockHandle held = locks.acquire("stock")) {
			for (String atCommit : List.of(this.acme, NOBODY)) {
				transaction.executeWithoutResult((status) -> this.tenant.set(atCommit));
				assertThat(stored(this.main, "dblock_fences")).containsEntry("token", held.token());
				this.client.getDatabase(this.main).getCollection("dblock_fences").deleteMany(new Document());
				this.tenant.set(this.acme);
			}
		}
		assertThat(this.client.getDatabase(this.acme).listCollectionNames()).containsExactly("orders");
	}

	@Test
	void aReactiveTransactionOfATenantIsFencedInTheDatabaseOfTheLocks(MongoServer server) {
		try (com.mongodb.reactivestreams.client.MongoClient reactive = com.mongodb.reactivestreams.client.MongoClients
			.create(server.uri())) {
			SimpleReactiveMongoDatabaseFactory routed = new SimpleReactiveMongoDatabaseFactory(reactive, this.main) {

				@Override
				public Mono<com.mongodb.reactivestreams.client.MongoDatabase> getMongoDatabase(String name) {
					return super.getMongoDatabase(RoutedDatabaseTests.this.acme);
				}

			};
			TransactionalOperator operator = ReactiveTransactions
				.joining(TransactionalOperator.create(new ReactiveMongoTransactionManager(routed)));
			ReactiveLockTemplate locks = ReactiveLockTemplate
				.of(locks(new SimpleMongoClientDatabaseFactory(this.client, this.main)));
			locks.execute("stock", () -> Mono.just("done").as(operator::transactional)).block(PATIENCE);
			assertThat(stored(this.main, "dblock_fences")).containsKey("token");
			assertThat(stored(this.acme, "dblock_fences")).isNull();
		}
	}

}
