package dev.dblock.autoconfigure;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockTemplate;
import dev.dblock.LockTemplates;
import dev.dblock.engine.LockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.micrometer.LockMeters;
import dev.dblock.mongodb.LockFence;
import dev.dblock.mongodb.MongoLockSettingsCustomizer;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.core.env.Environment;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Tests of applications whose locks are in several databases.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class SeveralDatabasesTests {

	private final MongoServer server;

	private String usual;

	private String orders;

	private ApplicationContextRunner contextRunner;

	SeveralDatabasesTests(MongoServer server) {
		this.server = server;
	}

	@BeforeEach
	void nameDatabases() {
		this.usual = this.server.freshDatabase();
		this.orders = this.server.freshDatabase();
		this.contextRunner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(MongoAutoConfiguration.class, DataMongoAutoConfiguration.class,
					AopAutoConfiguration.class, DblockAutoConfiguration.class, DblockAopAutoConfiguration.class,
					DblockObservationAutoConfiguration.class))
			.withUserConfiguration(OrdersConfiguration.class)
			.withPropertyValues("spring.mongodb.uri=" + this.server.uri(this.usual),
					"orders.uri=" + this.server.uri(this.orders), "orders.factory=orders");
	}

	private Document stored(String database, String name) {
		return this.server.client().getDatabase(database).getCollection("dblock_locks").find(byId(name)).first();
	}

	private long fences(String database, String name) {
		return this.server.client()
			.getDatabase(database)
			.getCollection("dblock_fences")
			.countDocuments(new Document("_id.name", name));
	}

	private static Document byId(String name) {
		return new Document("_id", name);
	}

	@Test
	void annotatedMethodIsLockedInTheDatabaseThatItNames() {
		this.contextRunner.withUserConfiguration(JobsConfiguration.class).run((context) -> {
			context.getBean(Jobs.class).settle("7");
			assertThat(stored(this.orders, "order-7")).isNotNull();
			assertThat(stored(this.usual, "order-7")).isNull();
			context.getBean(Jobs.class).report();
			assertThat(stored(this.usual, "report")).isNotNull();
			assertThat(stored(this.orders, "report")).isNull();
		});
	}

	@Test
	void templateLocksInTheDatabaseThatItIsOn() {
		this.contextRunner.run((context) -> {
			LockTemplate template = context.getBean(LockTemplate.class);
			LockTemplate there = context.getBean(LockTemplates.class).on("orders");
			try (LockHandle mine = template.acquire("stock"); LockHandle other = there.acquire("stock")) {
				assertThat(mine.isHeld() && other.isHeld()).isTrue();
				assertThat(stored(this.usual, "stock").getLong("token")).isGreaterThanOrEqualTo(mine.token());
				assertThat(stored(this.orders, "stock").getLong("token")).isGreaterThanOrEqualTo(other.token());
				assertThat(there.tryAcquire("stock")).isEmpty();
			}
			assertThat(there.inspect("stock").orElseThrow().held()).isFalse();
		});
	}

	@Test
	void eachDatabaseHasOneEngine() {
		this.contextRunner.withUserConfiguration(JobsConfiguration.class).run((context) -> {
			LockTemplates templates = context.getBean(LockTemplates.class);
			LockTemplate template = context.getBean(LockTemplate.class);
			assertThat(DefaultLockTemplate.of(templates.on("orders")).engine())
				.isSameAs(DefaultLockTemplate.of(templates.on("orders")).engine())
				.isNotSameAs(DefaultLockTemplate.of(template).engine());
			assertThat(DefaultLockTemplate.of(templates.on("")).engine())
				.isSameAs(DefaultLockTemplate.of(template).engine());
			assertThat(DefaultLockTemplate.of(templates.on("mongoDatabaseFactory")).engine())
				.isSameAs(DefaultLockTemplate.of(template).engine());
			templates.on("orders").execute("order-7", () -> context.getBean(Jobs.class).settle("7"));
			assertThat(context.getBean(Jobs.class).tokens()).hasSize(1);
		});
	}

	@Test
	void databaseForAllLocksIsChosenByName() {
		this.contextRunner.withPropertyValues("dblock.mongodb.database-factory=orders").run((context) -> {
			context.getBean(LockTemplate.class).acquire("stock").close();
			assertThat(stored(this.orders, "stock")).isNotNull();
			assertThat(stored(this.usual, "stock")).isNull();
			LockTemplates templates = context.getBean(LockTemplates.class);
			assertThat(DefaultLockTemplate.of(templates.on("orders")).engine())
				.isSameAs(DefaultLockTemplate.of(context.getBean(LockTemplate.class)).engine());
			templates.on("mongoDatabaseFactory").acquire("report").close();
			assertThat(stored(this.usual, "report")).isNotNull();
		});
	}

	@Test
	void transactionIsFencedInItsOwnDatabase() {
		this.contextRunner.withUserConfiguration(JobsConfiguration.class).run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.inTransaction("7", () -> {
			});
			assertThat(fences(this.orders, "order-7")).isPositive();
			assertThat(fences(this.usual, "order-7")).isZero();
			assertThat(jobs.committed()).isEqualTo(1);
			LockTemplates templates = context.getBean(LockTemplates.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> jobs.inTransaction("8", () -> CompletableFuture.runAsync(this::overtake).join()));
			assertThat(jobs.committed()).as("what the stale holder wrote is gone").isEqualTo(1);
			assertThat(templates.on("orders").inspect("order-8").orElseThrow().held()).isFalse();
		});
	}

	private void overtake() {
		this.contextRunner.run((context) -> {
			LockTemplate there = context.getBean(LockTemplates.class).on("orders");
			assertThat(there.forceReleaseNow("order-8")).isTrue();
			there.acquire("order-8").close();
		});
	}

	@Test
	void sessionIsFencedInTheDatabaseOfTheLock() {
		this.contextRunner.run((context) -> {
			LockTemplate there = context.getBean(LockTemplates.class).on("orders");
			MongoDatabaseFactory factory = context.getBean("orders", MongoDatabaseFactory.class);
			factory.getMongoDatabase().createCollection("dblock_fences");
			try (LockHandle lock = there.acquire("stock");
					ClientSession session = factory.getSession(ClientSessionOptions.builder().build())) {
				session.startTransaction();
				context.getBean(LockFence.class).fence(session, lock);
				session.commitTransaction();
			}
			assertThat(fences(this.orders, "stock")).isPositive();
			assertThat(fences(this.usual, "stock")).isZero();
		});
	}

	@Test
	void customizerSetsOneDatabase() {
		this.contextRunner
			.withBean(MongoLockSettingsCustomizer.class,
					() -> (name, settings) -> name.equals("orders") ? settings.withCollection("order_locks") : settings)
			.run((context) -> {
				context.getBean(LockTemplate.class).acquire("stock").close();
				context.getBean(LockTemplates.class).on("orders").acquire("stock").close();
				assertThat(stored(this.usual, "stock")).isNotNull();
				assertThat(stored(this.orders, "stock")).isNull();
				assertThat(this.server.client().getDatabase(this.orders).getCollection("order_locks").countDocuments())
					.isOne();
			});
	}

	@Test
	void metersCountTheLocksOfAllDatabases() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		this.contextRunner.withBean(SimpleMeterRegistry.class, () -> registry).run((context) -> {
			context.getBean(LockMeters.class).bindTo(registry);
			assertThat(registry.get("dblock.locks.held").gauge().value()).isZero();
			try (LockHandle mine = context.getBean(LockTemplate.class).acquire("stock");
					LockHandle other = context.getBean(LockTemplates.class).on("orders").acquire("stock")) {
				assertThat(registry.get("dblock.locks.held").gauge().value()).isEqualTo(2);
				assertThat(mine.isHeld() && other.isHeld()).isTrue();
			}
		});
	}

	@Test
	void locksOutliveTheExecutorsAndNotTheClient() throws Exception {
		List<String> events = new CopyOnWriteArrayList<>();
		CountDownLatch held = new CountDownLatch(1);
		CountDownLatch closing = new CountDownLatch(1);
		this.contextRunner.withUserConfiguration(ExecutorConfiguration.class).run((context) -> {
			LockTemplate there = context.getBean(LockTemplates.class).on("orders");
			assertThat(context.getBeanFactory().getDependentBeans("orders")).contains("dblockLockTemplates");
			assertThat(context.getBeanFactory().getDependentBeans("dblockLockTemplates")).contains("tasks");
			context.getBean(ThreadPoolTaskExecutor.class).execute(() -> {
				LockHandle handle = there.acquire("stock");
				held.countDown();
				await(closing);
				events.add("released " + handle.release());
			});
			assertThat(held.await(60, TimeUnit.SECONDS)).isTrue();
			context.getSourceApplicationContext()
				.addApplicationListener((ContextClosedEvent event) -> closing.countDown());
		});
		assertThat(events).containsExactly("released true");
		assertThat(stored(this.orders, "stock").get("holder")).isNull();
	}

	private static void await(CountDownLatch latch) {
		try {
			latch.await(60, TimeUnit.SECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void unknownDatabaseOfAnAnnotationStopsTheStart() {
		this.contextRunner.withUserConfiguration(JobsConfiguration.class)
			.withPropertyValues("orders.factory=oders")
			.run((context) -> assertThat(context.getStartupFailure())
				.hasMessageContaining("bean 'jobs', " + Jobs.class.getName() + "#settle(String): ")
				.hasMessageContaining("'oders' is not the name of a MongoDatabaseFactory bean")
				.hasMessageContaining("there are: orders, mongoDatabaseFactory")
				.hasMessageContaining("omit it"));
	}

	@Test
	void unknownDatabaseOfATemplateIsRefused() {
		this.contextRunner.run((context) -> {
			LockTemplates templates = context.getBean(LockTemplates.class);
			assertThatIllegalArgumentException().isThrownBy(() -> templates.on("oders"))
				.withMessageContaining("orders");
			assertThatIllegalArgumentException().as("no factory").isThrownBy(() -> templates.on("lockTemplate"));
		});
	}

	@Test
	void withoutLocksAnyNameWillDo() {
		this.contextRunner.withPropertyValues("dblock.mode=none", "orders.factory=oders")
			.withUserConfiguration(JobsConfiguration.class)
			.run((context) -> {
				context.getBean(Jobs.class).settle("7");
				assertThat(DefaultLockTemplate.of(context.getBean(LockTemplates.class).on("oders")).engine())
					.hasSameClassAs(LockEngine.unlocked(EngineSettings.defaults("test")));
			});
	}

	@Configuration(proxyBeanMethods = false)
	static class OrdersConfiguration {

		@Bean(defaultCandidate = false)
		MongoDatabaseFactory orders(Environment environment) {
			return new SimpleMongoClientDatabaseFactory(environment.getRequiredProperty("orders.uri"));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class ExecutorConfiguration {

		@Bean
		ThreadPoolTaskExecutor tasks() {
			ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
			executor.setWaitForTasksToCompleteOnShutdown(true);
			executor.setAwaitTerminationSeconds(60);
			return executor;
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class JobsConfiguration {

		@Bean
		Jobs jobs(@Qualifier("orders") MongoDatabaseFactory factory, MongoTransactionManager transactions) {
			return new Jobs(factory, transactions);
		}

		@Bean
		MongoTransactionManager orderTransactions(@Qualifier("orders") MongoDatabaseFactory factory) {
			return new MongoTransactionManager(factory);
		}

	}

	static class Jobs {

		private final Set<Long> tokens = new TreeSet<>();

		private final MongoTemplate mongo;

		private final TransactionTemplate transactions;

		Jobs(MongoDatabaseFactory factory, MongoTransactionManager transactions) {
			this.mongo = new MongoTemplate(factory);
			this.transactions = new TransactionTemplate(transactions);
		}

		public Set<Long> tokens() {
			return this.tokens;
		}

		public long committed() {
			return this.mongo.getCollection("orders").countDocuments();
		}

		@DistributedLock(name = "order-#{#id}", databaseFactory = "${orders.factory}")
		public void settle(String id) {
			this.tokens.add(LockContext.current().orElseThrow().token());
		}

		@DistributedLock(name = "order-#{#id}", databaseFactory = "orders")
		public void inTransaction(String id, Runnable meanwhile) {
			this.transactions.executeWithoutResult((status) -> {
				this.mongo.insert(new Document("order", id), "orders");
				meanwhile.run();
			});
		}

		@DistributedLock("report")
		public void report() {
		}

	}

}
