package dev.dblock.scenario;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.DistributedLock;
import dev.dblock.LockAssert;
import dev.dblock.LockTemplate;
import dev.dblock.WhenUnavailable;
import dev.dblock.job.schedule.InvalidJobException;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Methods that the holder runs once more for callers of other instances.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class RunAgainTests {

	private static final int CALLS = 50;

	private final ExecutorService executor = Executors.newCachedThreadPool();

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() throws Exception {
		this.executor.shutdownNow();
		this.instances.close();
	}

	private Index index(String name, String dialect) {
		return this.instances.startApplication(name, Application.class, "dblock.mongodb.statements=" + dialect)
			.getBean(Index.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "pipeline", "classic" })
	void theHolderRunsOnceMoreForAllCallsDuringItsRun(String dialect) throws Exception {
		Index here = index("here", dialect);
		Index elsewhere = index("elsewhere", dialect);
		Future<?> call = this.executor.submit(() -> here.rebuild("eu"));
		here.begun().await();
		for (int i = 0; i < 10; i++) {
			elsewhere.rebuild("eu");
		}
		assertThat(this.instances.document("index-eu").get("runAgain", Document.class)).containsKey("asked")
			.doesNotContainKey("closed");
		here.endFirstRun();
		call.get();
		assertThat(here.runs()).isEqualTo(2);
		assertThat(elsewhere.runs()).isZero();
		assertThat(this.instances.isReleased("index-eu")).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "pipeline", "classic" })
	void everyCallIsServedByARunThatBeginsAfterIt(String dialect) throws Exception {
		AtomicInteger source = new AtomicInteger();
		AtomicInteger indexed = new AtomicInteger();
		AtomicInteger running = new AtomicInteger();
		List<Future<?>> callers = new ArrayList<>();
		for (Index index : List.of(index("here", dialect), index("elsewhere", dialect))) {
			LockTemplate locks = index.locks();
			for (int thread = 0; thread < 3; thread++) {
				callers.add(this.executor.submit(() -> {
					for (int i = 0; i < CALLS; i++) {
						source.incrementAndGet();
						locks.executeOrRunAgain("index", () -> {
							assertThat(running.incrementAndGet()).isEqualTo(1);
							indexed.set(source.get());
							running.decrementAndGet();
						});
					}
					return null;
				}));
			}
		}
		for (Future<?> caller : callers) {
			caller.get();
		}
		assertThat(indexed).hasValue(6 * CALLS);
	}

	@Test
	void aScheduledMethodThatRunsOncePerPlannedTimeIsRefused() {
		assertThatExceptionOfType(InvalidJobException.class)
			.isThrownBy(() -> this.instances.startApplication("here", Job.class))
			.withMessageContaining("nightly()")
			.withMessageContaining("a run for a planned time is not repeated on request")
			.withMessageContaining("declare it on a method that this one calls");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Index.class)
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Job {

		@Scheduled(cron = "0 0 2 * * *")
		@DistributedLock(name = "nightly", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		void nightly() {
		}

	}

	static class Index {

		private final LockTemplate locks;

		private final CountDownLatch begun = new CountDownLatch(1);

		private final CountDownLatch firstRun = new CountDownLatch(1);

		private final AtomicInteger runs = new AtomicInteger();

		Index(LockTemplate locks) {
			this.locks = locks;
		}

		@DistributedLock(name = "index-#{#region}", whenUnavailable = WhenUnavailable.RUN_AGAIN)
		void rebuild(String region) {
			LockAssert.assertLocked("index-" + region);
			this.runs.incrementAndGet();
			this.begun.countDown();
			Instances.eventually().until(() -> this.firstRun.getCount() == 0);
		}

		LockTemplate locks() {
			return this.locks;
		}

		CountDownLatch begun() {
			return this.begun;
		}

		void endFirstRun() {
			this.firstRun.countDown();
		}

		int runs() {
			return this.runs.get();
		}

	}

}
