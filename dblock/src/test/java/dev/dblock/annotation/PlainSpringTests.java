package dev.dblock.annotation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockTemplate;
import dev.dblock.LockUnavailableException;
import dev.dblock.annotation.invocation.InvalidLockDeclarationException;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobRun;
import dev.dblock.mongodb.MongoLockRepository;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.settings.EngineSettings;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Applications without Spring Boot.
 */
@MongoServerTest
class PlainSpringTests {

	private static final List<Instant> PLANNED = Collections.synchronizedList(new ArrayList<>());

	private MongoServer server;

	private String database;

	@BeforeEach
	void chooseDatabase(MongoServer server) {
		this.server = server;
		this.database = server.freshDatabase();
		PLANNED.clear();
	}

	private AnnotationConfigApplicationContext start(Class<?>... configurations) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		start(context, configurations);
		return context;
	}

	private void start(AnnotationConfigApplicationContext context, Class<?>... configurations) {
		context.registerBean(MongoDatabaseFactory.class,
				() -> new SimpleMongoClientDatabaseFactory(this.server.client(), this.database));
		context.register(configurations);
		context.refresh();
	}

	@Test
	void methodIsLocked() throws InterruptedException {
		try (AnnotationConfigApplicationContext one = start(Locks.class);
				AnnotationConfigApplicationContext other = start(Locks.class)) {
			Stock locked = one.getBean(Stock.class);
			Stock stock = AopTestUtils.getTargetObject(locked);
			Thread thread = new Thread(locked::count);
			thread.start();
			assertThat(stock.begun.await(1, TimeUnit.MINUTES)).isTrue();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> other.getBean(Stock.class).count())
				.withMessageContaining("held by one");
			assertThat(other.getBean(LockTemplate.class).inspect("stock")).isPresent();
			stock.end.countDown();
			thread.join(Duration.ofMinutes(1).toMillis());
			assertThat(stock.held).isTrue();
			assertThat(one.getBean(LockTemplate.class).tryAcquire("stock")).hasValueSatisfying(LockHandle::close);
		}
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void transactionUnderALockThatAnotherHolderHasIsNotCommitted() {
		try (AnnotationConfigApplicationContext context = start(Locks.class, Transactions.class);
				AnnotationConfigApplicationContext other = start(Locks.class)) {
			LockTemplate locks = context.getBean(LockTemplate.class);
			MongoTemplate mongo = context.getBean(MongoTemplate.class);
			mongo.createCollection("orders");
			TransactionTemplate transaction = context.getBean(TransactionTemplate.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> locks.execute("stock", () -> transaction.execute((status) -> {
					locks.forceReleaseNow("stock");
					other.getBean(LockTemplate.class).execute("stock", () -> null);
					return mongo.insert(new Document(), "orders");
				})));
			assertThat(mongo.count(new Query(), "orders")).isZero();
			locks.execute("stock", () -> transaction.execute((status) -> mongo.insert(new Document(), "orders")));
			assertThat(mongo.count(new Query(), "orders")).isEqualTo(1);
		}
	}

	@Test
	void eachPlannedTimeOfAJobRunsOnce() {
		try (AnnotationConfigApplicationContext one = start(Locks.class, Jobs.class);
				AnnotationConfigApplicationContext other = start(Locks.class, Jobs.class)) {
			await().atMost(Duration.ofMinutes(1)).until(() -> PLANNED.size() >= 4);
			assertThat(one.getBean(JobOperations.class).list()).singleElement()
				.satisfies((job) -> assertThat(job.id()).isEqualTo("report"));
			assertThat(other.getBean(JobOperations.class).list()).hasSize(1);
		}
		assertThat(PLANNED).doesNotHaveDuplicates();
	}

	@Test
	void severalConfigurationsCanEnableLocks() {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.setAllowBeanDefinitionOverriding(false);
		try (context) {
			start(context, Locks.class, AlsoEnabled.class);
			assertThat(AopUtils.isAopProxy(context.getBean(Stock.class))).isTrue();
		}
	}

	@Test
	void contextWithoutAnEngineDoesNotStart() {
		assertThatExceptionOfType(InvalidLockDeclarationException.class).isThrownBy(() -> start(NoEngine.class).close())
			.withMessageContaining("there is no LockEngine bean to lock them with; declare one");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class Locks {

		@Bean
		DefaultLockEngine lockEngine(MongoDatabaseFactory mongo) {
			return new DefaultLockEngine(new MongoLockRepository(mongo, MongoLockSettings.defaults()),
					EngineSettings.defaults("one"), List.of());
		}

		@Bean
		LockTemplate lockTemplate(DefaultLockEngine engine) {
			return new DefaultLockTemplate(engine);
		}

		@Bean
		Stock stock() {
			return new Stock();
		}

	}

	static class Stock {

		final CountDownLatch begun = new CountDownLatch(1);

		final CountDownLatch end = new CountDownLatch(1);

		volatile boolean held;

		@DistributedLock(name = "stock", leaseSeconds = 20)
		public void count() {
			this.held = LockContext.current().orElseThrow().isHeld();
			this.begun.countDown();
			try {
				this.end.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Transactions {

		@Bean
		MongoTransactionManager transactionManager(MongoDatabaseFactory mongo) {
			return new MongoTransactionManager(mongo);
		}

		@Bean
		TransactionTemplate transactionTemplate(PlatformTransactionManager manager) {
			return new TransactionTemplate(manager);
		}

		@Bean
		MongoTemplate mongoTemplate(MongoDatabaseFactory mongo) {
			return new MongoTemplate(mongo);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Jobs {

		@Bean
		Report report() {
			return new Report();
		}

	}

	static class Report {

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "report")
		public void write() {
			PLANNED.add(JobRun.current().map(JobRun::plannedAt).orElseThrow());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class AlsoEnabled {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableDistributedLocks
	static class NoEngine {

		@Bean
		Stock stock() {
			return new Stock();
		}

	}

}
