package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.mongodb.autoconfigure.MongoClientSettingsBuilderCustomizer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.mongodb.core.MongoOperations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * An application whose slow queries hold all of its connections, for
 * {@code dblock.test.starved-seconds}, which is longer than one lease. Only the test ends
 * them.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
class StarvedPoolTests {

	private static final Duration STARVED = Duration.ofSeconds(Long.getLong("dblock.test.starved-seconds", 13));

	private static final Duration FOR_EVER = STARVED.plusMinutes(10);

	private static final Duration LEASE = Duration.ofSeconds(12);

	private static final int CONNECTIONS = 2;

	private MongoServer server;

	private ServerTime clock;

	private Instances instances;

	private Instance other;

	@BeforeEach
	void start(MongoServer server) {
		this.server = server;
		this.clock = ServerTime.sample(server.nodes().get(0));
		this.instances = new Instances(server);
		this.other = this.instances.start("other");
	}

	@AfterEach
	void stop() throws Exception {
		endQueries();
		this.instances.close();
	}

	private ConfigurableApplicationContext startApplication(String databaseFactory) {
		ConfigurableApplicationContext application = this.instances.startApplication("starved",
				SmallPoolConfiguration.class, "dblock.clock-allowance=10s",
				"dblock.mongodb.database-factory=" + databaseFactory);
		locks(application).acquire("first of starved").release();
		return application;
	}

	private static LockTemplate locks(ConfigurableApplicationContext application) {
		return application.getBean(LockTemplate.class);
	}

	/**
	 * Let queries occupy all connections until they are ended.
	 */
	private List<Work<Boolean>> starve(ConfigurableApplicationContext application) {
		this.server.failCommand(FailCommand.on("find")
			.times(CONNECTIONS)
			.blockFor(FOR_EVER)
			.with("namespace", this.instances.collection("orders").getNamespace().getFullName()));
		MongoOperations orders = application.getBean(MongoOperations.class);
		List<Work<Boolean>> queries = Stream.generate(() -> Work.start(() -> {
			orders.findAll(Object.class, "orders");
		})).limit(CONNECTIONS).toList();
		Instances.eventually().until(() -> running().size() == CONNECTIONS);
		return queries;
	}

	private List<Document> running() {
		return this.instances.running("find", "orders");
	}

	private void endQueries() {
		running().forEach((query) -> this.server.client()
			.getDatabase("admin")
			.runCommand(new Document("killOp", 1).append("op", query.get("opid"))));
	}

	@Test
	void locksWithAClientOfTheirOwnAreRenewedTakenAndReleased() throws Exception {
		ConfigurableApplicationContext application = startApplication("lockDatabaseFactory");
		LockHandle handle = locks(application).acquire("stock", LockOptions.lease(LEASE));
		LockHandle wanted = this.other.locks().acquire("wanted");
		List<Work<Boolean>> queries = starve(application);
		Instant starved = this.instances.instant("stock", "updatedAt");

		assertThat(locks(application).acquire("more").release()).isTrue();
		Work<LockHandle> waiter = Work
			.start(() -> locks(application).acquire("wanted", LockOptions.defaults().waitUpTo(Duration.ofMinutes(2))));
		waiter.awaitWaiting();
		assertThat(wanted.release()).isTrue();
		assertThat(waiter.result().release()).isTrue();

		Instances.eventually().atMost(STARVED.plusMinutes(2)).until(() -> {
			assertThat(handle.isHeld()).isTrue();
			assertThat(this.other.locks().tryAcquire("stock")).isEmpty();
			return this.instances.instant("stock", "updatedAt").isAfter(starved.plus(STARVED));
		});
		assertThat(queries).as("the queries that hold the connections").noneMatch(Work::isDone);
		assertThat(application.getBean(Losses.class).all()).isEmpty();
		assertThat(handle.release()).isTrue();
	}

	/**
	 * As many threads as the client has connections beside those for the engine.
	 */
	@Test
	void elevenThreadsWhoseRequestsHangLeaveRenewalsTheirConnections() throws Exception {
		ConfigurableApplicationContext application = startApplication("lockDatabaseFactory");
		LockHandle handle = locks(application).acquire("stock", LockOptions.lease(LEASE));
		this.server.failCommand(FailCommand.on("findAndModify")
			.blockFor(LEASE.multipliedBy(2))
			.with("namespace", this.instances.documents().getNamespace().getFullName()));
		AtomicBoolean enough = new AtomicBoolean();
		List<Work<Boolean>> requests = IntStream.range(0, 11)
			.mapToObj((i) -> Work.start(() -> askUntil(enough, locks(application), "wanted-" + i)))
			.toList();
		Instant begun = this.instances.instant("stock", "updatedAt");
		Instances.eventually().until(() -> {
			assertThat(handle.isHeld()).isTrue();
			return this.instances.instant("stock", "updatedAt").isAfter(begun.plus(LEASE));
		});
		enough.set(true);
		this.server.clearFailPoints();
		for (Work<Boolean> request : requests) {
			assertThat(request.result()).isTrue();
		}
		assertThat(handle.release()).isTrue();
	}

	private static void askUntil(AtomicBoolean enough, LockTemplate locks, String name) {
		while (!enough.get()) {
			try {
				locks.tryAcquire(name).ifPresent(LockHandle::close);
			}
			catch (QueryTimeoutException ex) {
				// It hangs for longer than a request may take
				assertThat(ex).hasMessageContaining(name);
			}
		}
	}

	@Test
	void lossIsReportedInTimeWithoutOne() throws Exception {
		ConfigurableApplicationContext application = startApplication("mongoDatabaseFactory");
		CompletableFuture<LockHandle> started = new CompletableFuture<>();
		CompletableFuture<Long> interrupted = new CompletableFuture<>();
		Work<Boolean> work = Work.start(
				() -> locks(application).execute("stock", LockOptions.lease(LEASE).whenLost(WhenLost.INTERRUPT), () -> {
					started.complete(LockContext.current().orElseThrow());
					try {
						return new CountDownLatch(1).await(5, TimeUnit.MINUTES);
					}
					finally {
						interrupted.complete(System.nanoTime());
					}
				}));
		LockHandle handle = started.get(60, TimeUnit.SECONDS);
		List<Work<Boolean>> queries = starve(application);
		Instant free = this.instances.instant("stock", "expiresAt");

		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> {
			throw work.failure();
		}).extracting(LockLostException::reason).isEqualTo(LossReason.EXPIRED);
		Instant thrown = this.clock.latest(System.nanoTime());
		assertThat(handle.isHeld()).isFalse();
		Losses losses = application.getBean(Losses.class);
		Instances.eventually().until(() -> losses.of("stock").isPresent());
		assertThat(this.clock.latest(interrupted.get())).as("the interrupt").isBefore(free);
		assertThat(this.clock.latest(losses.all().get(0).noticedNanos())).as("the listener").isBefore(free);
		assertThat(thrown).as("the exception").isBefore(free);
		assertThat(queries).as("the queries that hold the connections").noneMatch(Work::isDone);

		endQueries();
		assertThat(
				locks(application).acquire("stock", LockOptions.lease(LEASE).waitUpTo(Duration.ofMinutes(2))).token())
			.isGreaterThan(handle.token());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(LockClientConfiguration.class)
	static class SmallPoolConfiguration {

		@Bean
		Losses losses() {
			return new Losses();
		}

		@Bean
		MongoClientSettingsBuilderCustomizer smallPool() {
			return (settings) -> settings.applyToConnectionPoolSettings((pool) -> pool.maxSize(CONNECTIONS));
		}

	}

}
