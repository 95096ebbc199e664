package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.dblock.DistributedLock;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobRun;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.support.ScheduledMethodRunnable;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

/**
 * The requests of jobs, in the counters of the server.
 */
@MongoServerTest(kind = MongoServerKind.STANDALONE, fresh = true)
@SameOnEachJdk
class JobRequestsTests {

	private static final int PLANNED_TIMES = 5;

	private static final Instant FIRST = Instant.now().truncatedTo(ChronoUnit.SECONDS).minusSeconds(PLANNED_TIMES);

	private static final Instant LAST = FIRST.plusSeconds(PLANNED_TIMES - 1);

	private static final List<Instant> RUNS = new CopyOnWriteArrayList<>();

	/** So long that no renewal is counted. */
	private static final String LONG_LEASE = "dblock.lease=5m";

	private static final String ACQUIRE = "findAndModify";

	private static final String RELEASE = "update";

	private static final String READ = "find";

	private static final List<String> COMMANDS = List.of(ACQUIRE, RELEASE, READ, "insert", "delete", "aggregate",
			"count", "getMore", "createIndexes");

	private Instances instances;

	private MongoServer server;

	@BeforeEach
	void start(MongoServer server) {
		RUNS.clear();
		this.server = server;
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	@Test
	void runNeedsOneAcquireAndOneReleaseAndARefusalOneRequest() {
		ConfigurableApplicationContext one = this.instances.startApplication("one", SkipApplication.class, LONG_LEASE);
		WarmUp before = one.getBean(WarmUp.class);
		Instances.eventually().until(() -> RUNS.size() == PLANNED_TIMES && this.instances.isReleased("skip"));
		one.close();
		// This test reads the document; the first run of a job is requested twice
		assertThat(since(before, READ)).containsOnly(entry(ACQUIRE, 6L), entry(RELEASE, 5L));
		ConfigurableApplicationContext two = this.instances.startApplication("two", SkipApplication.class, LONG_LEASE);
		before = two.getBean(WarmUp.class);
		awaitRequests(before);
		two.close();
		assertThat(since(before, READ)).containsOnly(entry(ACQUIRE, 5L));
		assertThat(since(before).getOrDefault(READ, 0L)).as("the time and the record, at the start")
			.isLessThanOrEqualTo(2);
		assertThat(RUNS).hasSize(PLANNED_TIMES);
	}

	@Test
	void runOfAnotherInstanceIsNotCheckedBeforeItsLeaseCouldHaveEnded() throws Exception {
		this.instances.start("runner")
			.locks()
			.acquire("rerun", LockOptions.lease(Duration.ofMinutes(10)).claim(JobFiring.at(LAST)));
		ConfigurableApplicationContext application = this.instances.startApplication("application",
				RerunApplication.class, LONG_LEASE);
		WarmUp before = application.getBean(WarmUp.class);
		awaitRequests(before);
		application.close();
		assertThat(since(before, READ)).containsOnly(entry(ACQUIRE, 5L));
		assertThat(since(before).getOrDefault(READ, 0L)).as("the time and the record, at the start")
			.isLessThanOrEqualTo(2);
		assertThat(RUNS).isEmpty();
	}

	private void awaitRequests(WarmUp before) {
		Instances.eventually().until(() -> since(before).getOrDefault(ACQUIRE, 0L) >= PLANNED_TIMES);
	}

	/**
	 * The requests that have arrived at the server since the first one of an application.
	 */
	private Map<String, Long> since(WarmUp before, String... ignored) {
		Map<String, Long> counts = new HashMap<>();
		for (String command : COMMANDS) {
			long count = this.server.commandCount(command) - before.counts.get(command);
			if (count > 0 && !List.of(ignored).contains(command)) {
				counts.put(command, count);
			}
		}
		return counts;
	}

	/**
	 * Makes the first request, which also finds out the dialect and creates the indexes,
	 * before anything is scheduled.
	 */
	static class WarmUp implements SmartInitializingSingleton {

		private final Map<String, Long> counts = new HashMap<>();

		private final LockTemplate locks;

		private final MongoTemplate mongo;

		WarmUp(LockTemplate locks, MongoTemplate mongo) {
			this.locks = locks;
			this.mongo = mongo;
		}

		@Override
		public void afterSingletonsInstantiated() {
			this.locks.acquire("warm-up").close();
			Document commands = this.mongo.executeCommand("{serverStatus: 1}")
				.get("metrics", Document.class)
				.get("commands", Document.class);
			COMMANDS.forEach((name) -> this.counts.put(name, commands.get(name, Document.class).getLong("total")));
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	@Import(WarmUp.class)
	static class SkipApplication {

		@Bean
		SkipJob job() {
			return new SkipJob();
		}

		@Bean
		SchedulingConfigurer schedule(SkipJob job) {
			return (registrar) -> registrar.addTriggerTask(task(job), plan());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	@Import(WarmUp.class)
	static class RerunApplication {

		@Bean
		RerunJob job() {
			return new RerunJob();
		}

		@Bean
		SchedulingConfigurer schedule(RerunJob job) {
			return (registrar) -> registrar.addTriggerTask(task(job), plan());
		}

	}

	private static Runnable task(Object job) {
		return new ScheduledMethodRunnable(job, ReflectionUtils.findMethod(AopUtils.getTargetClass(job), "run"));
	}

	private static Trigger plan() {
		return (context) -> {
			Instant last = context.lastScheduledExecution();
			return (last == null) ? FIRST : last.isBefore(LAST) ? last.plusSeconds(1) : null;
		};
	}

	static class SkipJob {

		@DistributedLock(name = "skip")
		void run() {
			RUNS.add(JobRun.current().orElseThrow().plannedAt());
		}

	}

	static class RerunJob {

		@DistributedLock(name = "rerun")
		@JobPolicy(whenCrashed = WhenCrashed.RERUN)
		void run() {
			RUNS.add(JobRun.current().orElseThrow().plannedAt());
		}

	}

}
