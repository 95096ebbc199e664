package dev.dblock.shedlock;

import java.time.Duration;
import java.util.Date;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import dev.dblock.LockLostException;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.mongo.MongoLockProvider;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.boot.Banner;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.data.mongodb.core.query.Criteria;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.data.mongodb.core.query.Update;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Faults of ShedLock's provider for MongoDB, and the same steps with that of dblock.
 */
class RepairedFaultsTests {

	private static final Duration LONG = Duration.ofMinutes(10);

	/** Longer than a request on a busy machine, or the lock ends before its answer. */
	private static final Duration SHORT = Duration.ofSeconds(3);

	private static ConditionFactory eventually() {
		return Awaitility.await().atMost(Duration.ofMinutes(2)).pollInterval(Duration.ofMillis(10));
	}

	private static Optional<SimpleLock> lock(LockProvider provider, Duration atMost) {
		return provider.lock(DblockLockProviderTests.configuration("stock", atMost, Duration.ZERO));
	}

	private static SimpleLock successor(LockProvider provider) {
		return eventually().until(() -> lock(provider, LONG), Optional::isPresent).orElseThrow();
	}

	/**
	 * Lock by lock.
	 */
	@Nested
	@MongoServerTest(faults = true)
	class Locks {

		private Instance first;

		private Instance second;

		private MongoServer server;

		private String database;

		@BeforeEach
		void start(MongoServer server) {
			this.server = server;
			this.database = server.freshDatabase();
			this.first = new Instance("first", server.uri(), this.database);
			this.second = new Instance("second", server.uri(), this.database);
		}

		@AfterEach
		void stop() {
			this.first.close();
			this.second.close();
		}

		private boolean isFreeAfterALateUnlock(LockProvider late, LockProvider next) {
			SimpleLock expired = lock(late, SHORT).orElseThrow();
			successor(next);
			expired.unlock();
			return lock(late, LONG).isPresent();
		}

		@Test
		void lateUnlockFreesTheLockOfTheSuccessor() {
			assertThat(isFreeAfterALateUnlock(this.first.shedLock(), this.second.shedLock())).as("ShedLock").isTrue();
			assertThat(isFreeAfterALateUnlock(this.first.dblock(), this.second.dblock())).as("dblock").isFalse();
		}

		private boolean isSuccessorsLockExtended(LockProvider late, LockProvider next) {
			SimpleLock expired = lock(late, SHORT).orElseThrow();
			successor(next);
			return expired.extend(LONG.multipliedBy(2), Duration.ZERO).isPresent();
		}

		@Test
		void extensionByHostNameProlongsTheLockOfTheSuccessor() {
			assertThat(isSuccessorsLockExtended(this.first.shedLock(), this.second.shedLock())).as("ShedLock").isTrue();
			assertThat(isSuccessorsLockExtended(this.first.dblock(), this.second.dblock())).as("dblock").isFalse();
		}

		@Test
		void keepAliveStopsForGoodAfterOneException() {
			try (HurriedExecutor executor = new HurriedExecutor()) {
				LockProvider provider = new KeepAliveLockProvider(this.first.shedLock(), executor);
				SimpleLock lock = lock(provider, Duration.ofSeconds(30)).orElseThrow();
				eventually().until(() -> executor.periods() > 2);
				this.server.failCommand(FailCommand.on("findAndModify").errorCode(1).times(1));
				eventually().until(() -> executor.last().isDone());
				assertThat(executor.last().isCancelled()).as("nothing renews the lock").isFalse();
				lock.unlock();
			}
			DblockLockProvider provider = this.first.keepAlive();
			SimpleLock lock = lock(provider, DblockLockProviderTests.RENEWED).orElseThrow();
			this.server.failCommand(FailCommand.on("update").errorCode(1).times(1));
			Date end = this.second.locks().inspect("stock").map((info) -> Date.from(info.expiresAt())).orElseThrow();
			eventually()
				.until(() -> this.second.locks().inspect("stock").orElseThrow().updatedAt().isAfter(end.toInstant()));
			assertThat(lock(this.second.dblock(), LONG)).isEmpty();
			lock.unlock();
			assertThat(lock(this.second.dblock(), LONG)).isPresent();
		}

	}

	/**
	 * Sections and transactions of an application.
	 */
	@Nested
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	class Transactions {

		private static final int ROUNDS = 50;

		private final ExecutorService otherThread = Executors.newSingleThreadExecutor();

		private ConfigurableApplicationContext application;

		private TransactionTemplate transactions;

		private MongoTemplate mongo;

		private MongoLockProvider shedLock;

		private DblockLockProvider dblock;

		@BeforeEach
		void start(MongoServer server) {
			this.application = new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
				.bannerMode(Banner.Mode.OFF)
				.registerShutdownHook(false)
				.run("--spring.mongodb.uri=" + server.uri(server.freshDatabase()), "--dblock.clock-allowance=250ms");
			this.transactions = this.application.getBean(TransactionTemplate.class);
			this.mongo = this.application.getBean(MongoTemplate.class);
			this.mongo.createCollection("orders");
			this.mongo.insert(new Document("_id", "counter").append("value", 0), "orders");
			this.shedLock = new MongoLockProvider(this.mongo.getDb());
			this.dblock = this.application.getBean(DblockLockProvider.class);
		}

		@AfterEach
		void stop() {
			this.otherThread.shutdownNow();
			this.application.close();
		}

		private <T> T elsewhere(Callable<T> work) {
			try {
				return this.otherThread.submit(work).get();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

		private void section(LockProvider provider, Duration atMost, Runnable work) {
			new DefaultLockingTaskExecutor(provider).executeWithLock(work,
					DblockLockProviderTests.configuration("stock", atMost, Duration.ZERO));
		}

		private void count() {
			this.mongo.updateFirst(Query.query(Criteria.where("_id").is("counter")), new Update().inc("value", 1),
					"orders");
		}

		private int counted() {
			return this.mongo.findById("counter", Document.class, "orders").getInteger("value");
		}

		private void commitAfterTheSuccessorBegan(LockProvider provider) {
			section(provider, SHORT, () -> this.transactions.executeWithoutResult((status) -> {
				count();
				elsewhere(() -> successor(provider));
			}));
		}

		@Test
		void staleTransactionCommits() {
			commitAfterTheSuccessorBegan(this.shedLock);
			assertThat(counted()).as("ShedLock").isEqualTo(1);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> commitAfterTheSuccessorBegan(this.dblock));
			assertThat(counted()).as("dblock").isEqualTo(1);
		}

		private boolean isFreeBeforeTheEndOfTheTransaction(LockProvider provider) {
			return Boolean.TRUE.equals(this.transactions.execute((status) -> {
				section(provider, LONG, this::count);
				return elsewhere(() -> lock(provider, LONG).isPresent());
			}));
		}

		@Test
		void lockInsideATransactionIsFreeBeforeItsEnd() {
			assertThat(isFreeBeforeTheEndOfTheTransaction(this.shedLock)).as("ShedLock").isTrue();
			assertThat(isFreeBeforeTheEndOfTheTransaction(this.dblock)).as("dblock").isFalse();
			assertThat(lock(this.dblock, LONG)).as("after the commit").isPresent();
		}

		/**
		 * Let two transactions with one section each overlap, as often as the lock allows
		 * it.
		 * @return how many of the sections failed
		 */
		private int conflicts(LockProvider provider) {
			int conflicts = 0;
			for (int i = 0; i < ROUNDS; i++) {
				conflicts += this.transactions.execute((status) -> {
					section(provider, LONG, this::count);
					return elsewhere(() -> isConflict(() -> this.transactions
						.executeWithoutResult((inner) -> section(provider, LONG, this::count)))) ? 1 : 0;
				});
			}
			return conflicts;
		}

		private boolean isConflict(Runnable transaction) {
			try {
				transaction.run();
				return false;
			}
			catch (DataAccessException ex) {
				return true;
			}
		}

		@Test
		void sectionsInsideTransactionsRunIntoWriteConflicts() {
			assertThat(conflicts(this.shedLock)).as("ShedLock, of %d", 2 * ROUNDS).isEqualTo(ROUNDS);
			int before = counted();
			assertThat(conflicts(this.dblock)).as("dblock").isZero();
			assertThat(counted() - before).isEqualTo(ROUNDS);
		}

	}

	/**
	 * Extends every few milliseconds, not after half of the thirty seconds that ShedLock
	 * requires at least.
	 */
	private static final class HurriedExecutor extends ScheduledThreadPoolExecutor implements AutoCloseable {

		private final AtomicReference<ScheduledFuture<?>> last = new AtomicReference<>();

		private volatile int periods;

		HurriedExecutor() {
			super(1);
		}

		@Override
		public ScheduledFuture<?> scheduleAtFixedRate(Runnable command, long initialDelay, long period, TimeUnit unit) {
			ScheduledFuture<?> scheduled = super.scheduleAtFixedRate(() -> {
				command.run();
				this.periods++;
			}, 20, 20, TimeUnit.MILLISECONDS);
			this.last.set(scheduled);
			return scheduled;
		}

		int periods() {
			return this.periods;
		}

		ScheduledFuture<?> last() {
			return this.last.get();
		}

		@Override
		public void close() {
			shutdownNow();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

		@Bean
		MongoTransactionManager transactionManager(MongoDatabaseFactory factory) {
			return new MongoTransactionManager(factory);
		}

		@Bean
		TransactionTemplate transactionTemplate(MongoTransactionManager manager) {
			return new TransactionTemplate(manager);
		}

	}

}
