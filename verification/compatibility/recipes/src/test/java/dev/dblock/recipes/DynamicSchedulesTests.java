package dev.dblock.recipes;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.job.JobFiring;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.support.CronTrigger;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Schedules that are registered while the application runs.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class DynamicSchedulesTests {

	private static final List<Made> MADE = new CopyOnWriteArrayList<>();

	@Test
	void eachPlannedTimeOfEachScheduleRunsOnOneInstance(MongoServer server) {
		MADE.clear();
		try (Instances instances = new Instances(server)) {
			List<Reports> reports = Stream.of("one", "two")
				.map((name) -> instances.start(name, Application.class).getBean(Reports.class))
				.toList();
			List<ScheduledFuture<?>> sales = schedule(reports, "sales");
			Instances.eventually().until(() -> planned("sales").size() >= 3);
			schedule(reports, "stock");
			Instances.eventually().until(() -> planned("stock").size() >= 3);
			sales.forEach((schedule) -> schedule.cancel(false));
			int later = planned("stock").size() + 3;
			Instances.eventually().until(() -> planned("stock").size() >= later);
		}
		assertThat(planned("sales")).doesNotHaveDuplicates().isSorted();
		assertThat(planned("stock")).doesNotHaveDuplicates().isSorted();
		assertThat(last("sales")).isBefore(last("stock"));
	}

	private static List<ScheduledFuture<?>> schedule(List<Reports> reports, String name) {
		return reports.stream()
			.<ScheduledFuture<?>>map((each) -> each.schedule(name, new CronTrigger("* * * * * *")))
			.toList();
	}

	private static List<Instant> planned(String report) {
		return MADE.stream().filter((made) -> made.report().equals(report)).map(Made::plannedAt).toList();
	}

	private static Instant last(String report) {
		List<Instant> planned = planned(report);
		return planned.get(planned.size() - 1);
	}

	private record Made(String report, Instant plannedAt) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

		@Bean
		Reports reports(TaskScheduler scheduler, LockTemplate locks) {
			return new Reports(scheduler, locks);
		}

	}

	static class Reports {

		private final TaskScheduler scheduler;

		private final LockTemplate locks;

		Reports(TaskScheduler scheduler, LockTemplate locks) {
			this.scheduler = scheduler;
			this.locks = locks;
		}

		ScheduledFuture<?> schedule(String report, Trigger trigger) {
			AtomicReference<Instant> plannedAt = new AtomicReference<>();
			return this.scheduler.schedule(() -> run(report, plannedAt.get()),
					(context) -> plannedAt.updateAndGet((last) -> trigger.nextExecution(context)));
		}

		private void run(String report, Instant plannedAt) {
			LockOptions options = LockOptions.defaults().claim(JobFiring.at(plannedAt));
			this.locks.execute("report-" + report, options, () -> make(report, plannedAt), (refusal) -> null);
		}

		private Made make(String report, Instant plannedAt) {
			Made made = new Made(report, plannedAt);
			MADE.add(made);
			return made;
		}

	}

}
