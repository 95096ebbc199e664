package dev.dblock.recipes;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobRun;
import dev.dblock.job.event.JobMissedEvent;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A rolling update: the new instance starts before the old one ends, which runs a job.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class RolloutTests {

	private static final List<JobRun> RUNS = new CopyOnWriteArrayList<>();

	private static final AtomicInteger MISSED = new AtomicInteger();

	private static final CountDownLatch END_OF_FIRST = new CountDownLatch(1);

	@Test
	void oldInstanceEndsItsRunAndTheNewOneContinues(MongoServer server) throws InterruptedException {
		try (Instances instances = new Instances(server)) {
			ConfigurableApplicationContext old = start(instances, "old");
			Instances.eventually().until(() -> RUNS.size() == 1);
			start(instances, "new");
			CountDownLatch closing = new CountDownLatch(1);
			old.addApplicationListener((ContextClosedEvent event) -> closing.countDown());
			CompletableFuture<Void> closed = CompletableFuture.runAsync(old::close);
			closing.await();
			assertThat(closed).isNotDone();
			assertThat(RUNS).hasSize(1);
			END_OF_FIRST.countDown();
			Instances.eventually().until(() -> closed.isDone() && runsOf("new") >= 3);
		}
		assertThat(RUNS).extracting(JobRun::plannedAt).doesNotHaveDuplicates().isSorted();
		assertThat(RUNS).extracting(JobRun::instance).startsWith("old").endsWith("new");
		for (int index = 1; index < RUNS.size(); index++) {
			assertThat(RUNS.get(index).after()).as("settled before").isEqualTo(RUNS.get(index - 1).plannedAt());
		}
		assertThat(MISSED).hasValue(0);
	}

	private static long runsOf(String instance) {
		return RUNS.stream().filter((run) -> run.instance().equals(instance)).count();
	}

	private static ConfigurableApplicationContext start(Instances instances, String name) {
		return instances.start(name, Application.class, "spring.task.scheduling.shutdown.await-termination=true",
				"spring.task.scheduling.shutdown.await-termination-period=50s");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

		@Bean
		Invoices invoices() {
			return new Invoices();
		}

	}

	static class Invoices {

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "invoices")
		void invoice() throws InterruptedException {
			RUNS.add(JobRun.current().orElseThrow());
			END_OF_FIRST.await();
		}

		@EventListener
		void missed(JobMissedEvent event) {
			MISSED.incrementAndGet();
		}

	}

}
