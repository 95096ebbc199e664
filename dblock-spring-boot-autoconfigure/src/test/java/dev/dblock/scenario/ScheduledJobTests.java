package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.job.JobRun;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Jobs of three instances that have nothing but the two annotations.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class ScheduledJobTests {

	private static final Duration LONG = Duration.ofSeconds(120);

	private static final int PLANNED_TIMES = 10;

	private static final Map<String, List<JobRun>> RUNS = new ConcurrentHashMap<>();

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		RUNS.clear();
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	@Test
	void eachPlannedTimeRunsOnce() throws Exception {
		IntStream.rangeClosed(1, 3)
			.forEach((number) -> this.instances.startApplication("instance-" + number, Application.class,
					"spring.task.scheduling.pool.size=4"));
		await().atMost(LONG).until(() -> runs("cron").size() >= PLANNED_TIMES);
		await().atMost(LONG).until(() -> runs("mono").size() >= PLANNED_TIMES);
		await().atMost(LONG).until(() -> runs("rate").size() >= PLANNED_TIMES);
		await().atMost(LONG).until(() -> runs("delay").size() >= PLANNED_TIMES);
		this.instances.close();
		for (String name : List.of("cron", "mono", "rate", "delay")) {
			assertThat(runs(name)).as(name).extracting(JobRun::plannedAt).doesNotHaveDuplicates().isSorted();
			assertThat(runs(name)).as(name).extracting(JobRun::attempt).containsOnly(1);
		}
		assertThat(runs("cron")).extracting(JobRun::plannedAt).allMatch((planned) -> planned.getNano() == 0);
		assertPeriod(runs("rate"), Duration.ofMillis(400));
		for (int index = 1; index < runs("delay").size(); index++) {
			assertThat(Duration.between(runs("delay").get(index - 1).startedAt(), runs("delay").get(index).startedAt()))
				.isGreaterThanOrEqualTo(Duration.ofMillis(400));
		}
	}

	private static void assertPeriod(List<JobRun> runs, Duration period) {
		Instant first = runs.get(0).plannedAt();
		assertThat(runs)
			.allMatch((run) -> Duration.between(first, run.plannedAt()).toMillis() % period.toMillis() == 0);
	}

	private static List<JobRun> runs(String name) {
		return RUNS.getOrDefault(name, Collections.emptyList());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

		@Bean
		Jobs jobs() {
			return new Jobs();
		}

	}

	static class Jobs {

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "cron")
		void cron() {
			ran("cron");
		}

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "mono")
		Mono<Void> mono() {
			return Mono.deferContextual((context) -> {
				ran("mono", ReactiveLockTemplate.current(context).flatMap(LockHandle::run));
				return Mono.empty();
			});
		}

		@Scheduled(fixedRate = 400)
		@DistributedLock(name = "rate")
		void rate() {
			ran("rate");
		}

		@Scheduled(fixedDelay = 400)
		@DistributedLock(name = "delay")
		void delay() {
			ran("delay");
		}

		private static void ran(String name) {
			ran(name, LockContext.run());
		}

		private static void ran(String name, Optional<JobRun> run) {
			RUNS.computeIfAbsent(name, (key) -> new CopyOnWriteArrayList<>()).add(run.orElseThrow());
		}

	}

}
