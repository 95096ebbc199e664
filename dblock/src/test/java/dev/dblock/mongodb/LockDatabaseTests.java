package dev.dblock.mongodb;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import org.bson.codecs.configuration.CodecRegistries;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Factories that have another database, another client or none for another thread.
 * Nothing listens where these clients try to connect to, and no request is sent.
 */
class LockDatabaseTests {

	private static final Duration LONG = Duration.ofMinutes(10);

	private final ThreadLocal<@Nullable String> tenant = new ThreadLocal<>();

	private final List<MongoClient> clients = new ArrayList<>();

	@AfterEach
	void close() {
		this.clients.forEach(MongoClient::close);
	}

	private MongoClient client(String hosts) {
		MongoClient client = MongoClients.create("mongodb://" + hosts + "/?serverSelectionTimeoutMS=1");
		this.clients.add(client);
		return client;
	}

	/**
	 * Create the database of a factory that has a database for each tenant, or fails.
	 */
	private LockDatabase routed(Function<@Nullable String, MongoDatabase> databases, MongoClient client) {
		return locks(databases, (tenant) -> client);
	}

	private LockDatabase locks(Function<@Nullable String, MongoDatabase> databases,
			Function<@Nullable String, MongoClient> clients) {
		return new LockDatabase(new SimpleMongoClientDatabaseFactory(client("localhost:9"), "unused") {

			@Override
			public MongoDatabase getMongoDatabase() {
				return databases.apply(LockDatabaseTests.this.tenant.get());
			}

			@Override
			protected MongoDatabase doGetMongoDatabase(String name) {
				throw new AssertionError("A factory may choose even then");
			}

			@Override
			public ClientSession getSession(ClientSessionOptions options) {
				return clients.apply(LockDatabaseTests.this.tenant.get()).startSession(options);
			}

		}, LONG);
	}

	private LockDatabase byName(MongoClient client) {
		return routed((tenant) -> client.getDatabase((tenant != null) ? tenant : "main"), client);
	}

	private LockDatabase failingWithoutTenant(MongoClient client) {
		return routed((tenant) -> {
			if (tenant == null) {
				throw new IllegalStateException("no tenant");
			}
			return client.getDatabase(tenant);
		}, client);
	}

	private static void assertRefused(Runnable use, String... messages) {
		assertThatExceptionOfType(InvalidDataAccessApiUsageException.class).isThrownBy(use::run)
			.satisfies((ex) -> assertThat(ex.getMessage()).contains(messages)
				.contains("dblock.mongodb.database-factory", "LockNamePrefix", Thread.currentThread().getName()));
	}

	@Test
	void aTenantWithAnotherDatabaseThanOtherThreadsIsRefusedAtFirstUse() {
		LockDatabase locks = byName(client("localhost:1"));
		this.tenant.set("acme");
		for (Runnable use : List.<Runnable>of(locks::check, locks::getMongoDatabase)) {
			assertRefused(use, "returns 'acme' for the thread", "'main' for another thread");
		}
	}

	@Test
	void aTenantWithAnotherDatabaseIsRefusedAfterAThreadWithoutOne() {
		LockDatabase locks = byName(client("localhost:1"));
		locks.check();
		this.tenant.set("main");
		locks.check();
		this.tenant.set("acme");
		assertRefused(locks::check, "returns 'acme' for the thread", "'main' for another thread");
	}

	@Test
	void aFactoryThatFailsWithoutATenantIsRefusedInEachThread() {
		LockDatabase locks = failingWithoutTenant(client("localhost:1"));
		for (Runnable use : List.<Runnable>of(locks::check, locks::getMongoDatabase)) {
			assertRefused(use, "has no database for the thread", "no tenant");
		}
		this.tenant.set("acme");
		for (Runnable use : List.<Runnable>of(locks::check, locks::getMongoDatabase)) {
			assertRefused(use, "returns 'acme' for the thread", "fails in another thread", "no tenant");
		}
	}

	@Test
	void requestsGoToTheFirstDatabaseWhateverThreadSendsThem() {
		MongoClient client = client("localhost:1");
		LockDatabase locks = routed((tenant) -> {
			if ("nobody".equals(tenant)) {
				throw new IllegalStateException("unknown tenant");
			}
			return client.getDatabase((tenant != null) ? tenant : "main");
		}, client);
		assertThat(locks.getMongoDatabase().getName()).isEqualTo("main");
		for (String later : List.of("acme", "nobody")) {
			this.tenant.set(later);
			assertThat(locks.getMongoDatabase().getName()).isEqualTo("main");
			assertThat(locks.name()).isEqualTo("main");
			assertThat(locks.client()).isSameAs(client);
		}
	}

	@Test
	void aTenantWithOtherServersIsRefusedEvenIfItsDatabaseHasTheSameName() {
		MongoClient main = client("localhost:1");
		MongoClient other = client("localhost:2");
		LockDatabase locks = locks((tenant) -> ((tenant != null) ? other : main).getDatabase("app"),
				(tenant) -> (tenant != null) ? other : main);
		this.tenant.set("acme");
		assertRefused(locks::check, "'app' for the thread", "of that name on other servers");
		this.tenant.remove();
		locks.check();
		this.tenant.set("acme");
		assertRefused(locks::check, "'app' for the thread", "of that name on other servers");
		assertThat(locks.getMongoDatabase().getCodecRegistry()).isSameAs(main.getDatabase("app").getCodecRegistry());
		assertThat(locks.client()).isSameAs(main);
	}

	@Test
	void twoClientsOfTheSameServersMayServeOneDatabase() {
		MongoClient main = client("localhost:1");
		MongoClient readers = client("localhost:1");
		LockDatabase locks = locks((tenant) -> ((tenant != null) ? readers : main).getDatabase("app"),
				(tenant) -> (tenant != null) ? readers : main);
		locks.check();
		this.tenant.set("reports");
		locks.check();
		assertThat(locks.getMongoDatabase().getName()).isEqualTo("app");
	}

	@Test
	void aFactoryMayCreateADatabaseForEachCall() {
		MongoClient client = client("localhost:1");
		LockDatabase locks = routed((tenant) -> client.getDatabase("app")
			.withCodecRegistry(CodecRegistries.fromRegistries(client.getCodecRegistry())), client);
		locks.check();
		locks.check();
		assertThat(locks.getMongoDatabase().getName()).isEqualTo("app");
	}

	@Test
	void aClientThatIsReplacedForAllThreadsIsFollowed() {
		List<MongoClient> present = new ArrayList<>(List.of(client("localhost:1")));
		LockDatabase locks = locks((tenant) -> present.get(0).getDatabase((tenant != null) ? tenant : "app"),
				(tenant) -> present.get(0));
		locks.check();
		present.set(0, client("localhost:1"));
		assertThat(locks.getMongoDatabase().getCodecRegistry())
			.isSameAs(present.get(0).getDatabase("app").getCodecRegistry());
		assertThat(locks.client()).isSameAs(present.get(0));
		present.set(0, client("localhost:2"));
		this.tenant.set("acme");
		assertThat(locks.getMongoDatabase().getCodecRegistry()).as("by a thread with another database")
			.isSameAs(present.get(0).getDatabase("app").getCodecRegistry());
		this.tenant.remove();
		present.set(0, client("localhost:3"));
		locks.check();
		assertThat(locks.client()).isSameAs(present.get(0));
	}

	@Test
	void aFactoryThatOtherThreadsMustWaitForIsUsedAllTheSame() {
		CountDownLatch created = new CountDownLatch(1);
		MongoClient client = client("localhost:1");
		Thread creator = Thread.currentThread();
		LockDatabase locks = new LockDatabase(new SimpleMongoClientDatabaseFactory(client, "app") {

			@Override
			public MongoDatabase getMongoDatabase() {
				try {
					if (Thread.currentThread() != creator) {
						created.await();
					}
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
				return super.getMongoDatabase();
			}

		}, Duration.ofMillis(50));
		locks.check();
		assertThat(locks.getMongoDatabase().getName()).isEqualTo("app");
		created.countDown();
	}

	@Test
	void anInterruptedThreadRemainsInterrupted() {
		LockDatabase locks = byName(client("localhost:1"));
		Thread.currentThread().interrupt();
		try {
			locks.check();
		}
		finally {
			assertThat(Thread.interrupted()).isTrue();
		}
	}

}
