package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.LockNamePrefix;
import dev.dblock.job.JobRun;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A scheduler for each tenant: each planned time runs once for each of them, on any
 * instance.
 */
@MongoServerTest(kind = MongoServerKind.STANDALONE)
class JobsOfTenantsTests {

	private static final List<String> TENANTS = List.of("acme", "globex");

	private static final ThreadLocal<String> TENANT = new ThreadLocal<>();

	private static final Queue<Run> RUNS = new ConcurrentLinkedQueue<>();

	@Test
	void eachPlannedTimeRunsOnceForEachTenant(MongoServer server) {
		RUNS.clear();
		String uri = server.uri(server.freshDatabase());
		try (ConfigurableApplicationContext one = start(uri); ConfigurableApplicationContext other = start(uri)) {
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.until(() -> TENANTS.stream().allMatch((tenant) -> runs(tenant).count() >= 4));
			assertThat(one.isRunning() && other.isRunning()).isTrue();
		}
		assertThat(RUNS).doesNotHaveDuplicates();
		Set<Instant> both = new HashSet<>(runs("acme").toList());
		both.retainAll(runs("globex").toList());
		assertThat(both).as("planned times of both").hasSizeGreaterThanOrEqualTo(3);
	}

	private static Stream<Instant> runs(String tenant) {
		return RUNS.stream().filter((run) -> run.tenant().equals(tenant)).map(Run::plannedAt);
	}

	private static ConfigurableApplicationContext start(String uri) {
		return new SpringApplicationBuilder(Application.class)
			.properties("spring.mongodb.uri=" + uri, "spring.main.web-application-type=none")
			.run();
	}

	private record Run(String tenant, Instant plannedAt) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

		@Bean
		ThreadPoolTaskScheduler acmeScheduler() {
			return schedulerOf("acme");
		}

		@Bean
		ThreadPoolTaskScheduler globexScheduler() {
			return schedulerOf("globex");
		}

		private static ThreadPoolTaskScheduler schedulerOf(String tenant) {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setTaskDecorator((task) -> () -> {
				TENANT.set(tenant);
				task.run();
			});
			return scheduler;
		}

		@Bean
		LockNamePrefix tenantPrefix() {
			return (name) -> TENANT.get() + ":";
		}

		@Bean
		Statements statements() {
			return new Statements();
		}

	}

	static class Statements {

		@Scheduled(cron = "* * * * * *", scheduler = "acmeScheduler")
		@Scheduled(cron = "* * * * * *", scheduler = "globexScheduler")
		@DistributedLock("statements")
		public void send() {
			RUNS.add(new Run(TENANT.get(), JobRun.current().orElseThrow().plannedAt()));
		}

	}

}
