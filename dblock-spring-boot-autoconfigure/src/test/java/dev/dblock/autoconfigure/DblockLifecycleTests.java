package dev.dblock.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import com.mongodb.client.MongoCollection;
import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import dev.dblock.testing.MongoNode;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.mongodb.autoconfigure.DataMongoAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.dao.DataAccessException;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the lifecycle of the beans of {@link DblockAutoConfiguration}.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class DblockLifecycleTests {

	private final ApplicationContextRunner withoutDblock = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(MongoAutoConfiguration.class, DataMongoAutoConfiguration.class));

	private final ApplicationContextRunner withDblock = this.withoutDblock
		.withConfiguration(AutoConfigurations.of(DblockAutoConfiguration.class))
		.withPropertyValues("dblock.lease=9s", "dblock.acquirer=this test");

	private String uri;

	private MongoCollection<Document> locks;

	@BeforeEach
	void setUp(MongoServer server) {
		String database = server.freshDatabase();
		this.uri = "spring.mongodb.uri=" + server.uri(database);
		this.locks = server.client().getDatabase(database).getCollection("dblock_locks");
	}

	@Test
	void noThreadIsStartedBeforeTheFirstLock() {
		Set<Thread> before = threads();
		Set<String> usual = new HashSet<>();
		this.withoutDblock.withPropertyValues(this.uri).run((context) -> usual.addAll(kinds(startedSince(before))));
		awaitNoneOf(before);
		this.withDblock.withPropertyValues(this.uri).run((context) -> {
			assertThat(kinds(startedSince(before))).isSubsetOf(usual);
			context.getBean(LockTemplate.class).acquire("stock").release();
			assertThat(kinds(startedSince(before))).anyMatch((kind) -> kind.startsWith("dblock-"));
		});
	}

	@Test
	void closedContextLeavesNoThreadBehind() {
		Set<Thread> before = threads();
		this.withDblock.withPropertyValues(this.uri).run((context) -> {
			LockHandle renewed = context.getBean(LockTemplate.class).acquire("stock");
			Instant acquired = updatedAt("stock");
			eventually().until(() -> updatedAt("stock").isAfter(acquired));
			assertThat(renewed.isHeld()).isTrue();
			context.getBean(LockTemplate.class).acquire("other").release();
		});
		awaitNoneOf(before);
	}

	@Test
	void taskThatAnExecutorWaitsForKeepsItsLockUntilItCompletes() {
		this.withDblock.withUserConfiguration(PatientExecutorConfiguration.class)
			.withPropertyValues(this.uri)
			.run((context) -> {
				CountDownLatch done = new CountDownLatch(1);
				Future<Boolean> task = submit(context.getBean(ThreadPoolTaskExecutor.class),
						context.getBean(LockTemplate.class), done);
				CompletableFuture<Instant> closing = new CompletableFuture<>();
				context.getSourceApplicationContext()
					.addApplicationListener((ContextClosedEvent event) -> closing.complete(updatedAt("stock")));
				CompletableFuture<Void> closed = CompletableFuture
					.runAsync(context.getSourceApplicationContext()::close);
				Instant atClosing = closing.get(60, TimeUnit.SECONDS);
				eventually().until(() -> updatedAt("stock").isAfter(atClosing.plusSeconds(1)));
				assertThat(closed).isNotDone();
				done.countDown();
				assertThat(task.get(60, TimeUnit.SECONDS)).as("held at the end of the task").isTrue();
				closed.get(60, TimeUnit.SECONDS);
				assertThat(lock("stock").getDate("releasedAt")).isNotNull();
				assertThat(lock("stock")).doesNotContainKey("holder");
			});
	}

	private Future<Boolean> submit(ThreadPoolTaskExecutor executor, LockTemplate template, CountDownLatch done)
			throws InterruptedException {
		CountDownLatch started = new CountDownLatch(1);
		Future<Boolean> task = executor.submit(() -> {
			LockHandle handle = template.acquire("stock");
			started.countDown();
			done.await();
			return handle.release();
		});
		assertThat(started.await(60, TimeUnit.SECONDS)).isTrue();
		return task;
	}

	@Test
	void executorThatTheRepositoryNeedsIsDestroyedAfterTheEngine() {
		this.withDblock.withUserConfiguration(PatientExecutorConfiguration.class)
			.withPropertyValues(this.uri)
			.withInitializer((context) -> context.getBeanFactory().registerDependentBean("executor", "mongo"))
			.run((context) -> {
				ConfigurableApplicationContext application = context.getSourceApplicationContext();
				assertThat(application.getBeanFactory().getDependentBeans("lockEngine")).doesNotContain("executor");
				LockHandle handle = context.getBean(LockTemplate.class).acquire("stock");
				application.close();
				assertThat(handle.isHeld()).isFalse();
			});
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.STANDALONE, fresh = true, faults = true)
	void startsWhileTheServerIsDownAndLocksOnceItIsUp(MongoServer server) {
		MongoNode node = server.nodes().get(0);
		node.kill();
		this.withDblock
			.withPropertyValues("spring.mongodb.uri=" + server.uri("test") + "&serverSelectionTimeoutMS=2000",
					"dblock.mongodb.timeout=2s")
			.run((context) -> {
				LockTemplate template = context.getBean(LockTemplate.class);
				assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> template.tryAcquire("stock"));
				node.restart();
				eventually().ignoreExceptionsInstanceOf(DataAccessException.class)
					.until(() -> template.tryAcquire("stock").isPresent());
			});
	}

	private static ConditionFactory eventually() {
		return Awaitility.await().atMost(Duration.ofSeconds(60));
	}

	private Document lock(String name) {
		return this.locks.find(new Document("_id", name)).first();
	}

	private Instant updatedAt(String name) {
		return lock(name).getDate("updatedAt").toInstant();
	}

	private static Set<Thread> threads() {
		return new HashSet<>(Thread.getAllStackTraces().keySet());
	}

	private static Set<Thread> startedSince(Set<Thread> before) {
		Set<Thread> threads = threads();
		threads.removeAll(before);
		return threads;
	}

	/**
	 * The names of the threads without their numbers, and without those of the driver,
	 * which starts its own when it likes.
	 */
	private static Set<String> kinds(Set<Thread> threads) {
		return threads.stream()
			.map((thread) -> thread.getName().replaceAll("[0-9a-f]{8,}|\\d+", "#"))
			.filter((kind) -> !kind.startsWith("cluster-") && !kind.startsWith("MaintenanceTimer"))
			.collect(Collectors.toSet());
	}

	private static void awaitNoneOf(Set<Thread> before) {
		Predicate<Thread> alive = Thread::isAlive;
		eventually().untilAsserted(() -> assertThat(startedSince(before)).filteredOn(alive)
			.extracting(Thread::getName)
			.filteredOn((name) -> name.startsWith("dblock-") || name.startsWith("cluster-"))
			.isEmpty());
	}

	@Configuration(proxyBeanMethods = false)
	static class PatientExecutorConfiguration {

		@Bean
		ThreadPoolTaskExecutor executor() {
			ThreadPoolTaskExecutor executor = new ThreadPoolTaskExecutor();
			executor.setWaitForTasksToCompleteOnShutdown(true);
			executor.setAwaitTerminationSeconds(60);
			return executor;
		}

	}

}
