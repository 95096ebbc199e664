package dev.dblock.test.autoconfigure;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

import dev.dblock.DistributedLock;
import dev.dblock.autoconfigure.DblockAopAutoConfiguration;
import dev.dblock.autoconfigure.DblockAutoConfiguration;
import dev.dblock.autoconfigure.DblockJobsAutoConfiguration;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobPolicy;
import dev.dblock.test.autoconfigure.TestLocks.TestJob;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for the schedules of jobs in tests that use {@link TestLocks}.
 */
class SchedulesInTestsTests {

	private static final Duration LIMIT = Duration.ofMinutes(1);

	private static final Instant PAST = Instant.parse("2026-03-01T02:00:00Z");

	private static final AutoConfigurations CONFIGURATIONS = AutoConfigurations.of(DblockAutoConfiguration.class,
			DblockAopAutoConfiguration.class, DblockJobsAutoConfiguration.class, DblockTestAutoConfiguration.class);

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(CONFIGURATIONS)
		.withUserConfiguration(Scheduling.class)
		.withPropertyValues("dblock.mode=local");

	@Test
	void onlyTheTestAndOperatorsCallJobs() {
		this.contextRunner.run(SchedulesInTestsTests::assertOnlyCalledOnRequest);
	}

	@ParameterizedTest
	@ValueSource(strings = { "off", "no", "0" })
	void schedulesDoNotRunWithAnyWordForFalse(String off) {
		this.contextRunner.withPropertyValues("dblock.test.run-schedules=" + off).run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			Awaitility.await().atMost(LIMIT).until(() -> jobs.unlockedCalls() > 12);
			assertThat(jobs.called()).isEmpty();
		});
	}

	@Test
	void onlyTheTestAndOperatorsCallJobsOfAnApplicationWithLazyBeans() {
		this.contextRunner
			.withInitializer(
					(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
			.run((context) -> {
				context.getBean(Jobs.class);
				assertOnlyCalledOnRequest(context);
			});
	}

	private static void assertOnlyCalledOnRequest(ApplicationContext context) {
		Jobs jobs = context.getBean(Jobs.class);
		// Long enough for each schedule, on a scheduler with one thread
		Awaitility.await().atMost(LIMIT).until(() -> jobs.unlockedCalls() > 12);
		assertThat(jobs.called()).isEmpty();
		context.getBean(TestLocks.class).job("cron").fire(PAST, jobs::cron);
		assertThat(jobs.called()).containsExactly("cron");
		// What only weak references lead to would be gone
		System.gc();
		JobOperations operations = context.getBean(JobOperations.class);
		for (String job : List.of("rate", "delay", "once")) {
			assertThat(operations.runNow(job).description()).isEqualTo("It has started");
			Awaitility.await().atMost(LIMIT).until(() -> jobs.called().contains(job));
		}
	}

	@Test
	void schedulesRunOnRequestAndAnEarlierTimeIsRefusedWithTheReason() {
		this.contextRunner.withPropertyValues("dblock.test.run-schedules=true").run((context) -> {
			Jobs jobs = context.getBean(Jobs.class);
			TestJob job = context.getBean(TestLocks.class).job("cron");
			Awaitility.await().atMost(LIMIT).until(() -> !job.runs().isEmpty());
			assertThatIllegalStateException().isThrownBy(() -> job.fire(PAST, jobs::cron))
				.withMessageContaining("did not run for the planned time " + PAST)
				.withMessageContaining("Its last run was planned for ");
		});
	}

	@Test
	void aJobWithoutAScheduleIsRefusedBeforeItsCall() {
		this.contextRunner.withPropertyValues("test.cron=-").run(SchedulesInTestsTests::assertNotScheduled);
		new ApplicationContextRunner().withConfiguration(CONFIGURATIONS)
			.withUserConfiguration(Jobs.class)
			.withPropertyValues("dblock.mode=local")
			.run(SchedulesInTestsTests::assertNotScheduled);
	}

	private static void assertNotScheduled(ApplicationContext context) {
		Jobs jobs = context.getBean(Jobs.class);
		TestJob job = context.getBean(TestLocks.class).job("cron");
		assertThatIllegalStateException().isThrownBy(() -> job.fire(PAST, jobs::cron))
			.withMessageStartingWith("The job 'cron' is not scheduled in this test");
		assertThat(jobs.called()).isEmpty();
	}

	@Test
	void aJobIsCalledByItsIdItsLockOrALockThatOnlyTheCallDetermines() {
		this.contextRunner.withUserConfiguration(NamedJobs.class).run((context) -> {
			NamedJobs jobs = context.getBean(NamedJobs.class);
			TestLocks locks = context.getBean(TestLocks.class);
			locks.job("lock", "id").fire(PAST, jobs::withId);
			locks.job("lock").fire(PAST.plusSeconds(1), jobs::withId);
			locks.job("of-call").fire(PAST, jobs::withLockOfCall);
			assertThat(locks.job("lock", "id").runs()).hasSize(2);
			assertThat(locks.job("of-call").runs()).hasSize(1);
		});
	}

	static class NamedJobs {

		@Scheduled(cron = "0 0 2 1 * *")
		@DistributedLock("lock")
		@JobPolicy(id = "id")
		public void withId() {
		}

		@Scheduled(cron = "0 0 2 1 * *")
		@DistributedLock("of-#{'call'}")
		public void withLockOfCall() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@Import(Jobs.class)
	static class Scheduling {

	}

	static class Jobs {

		private final List<String> called = new CopyOnWriteArrayList<>();

		private final AtomicInteger unlocked = new AtomicInteger();

		// Called through the proxy
		List<String> called() {
			return this.called;
		}

		int unlockedCalls() {
			return this.unlocked.get();
		}

		@Scheduled(fixedRate = 100)
		void unlocked() {
			this.unlocked.incrementAndGet();
		}

		@Scheduled(fixedRate = 100)
		@DistributedLock("rate")
		public void rate() {
			this.called.add("rate");
		}

		@Scheduled(fixedDelay = 100)
		@DistributedLock("delay")
		public void delay() {
			this.called.add("delay");
		}

		@Scheduled(cron = "${test.cron:* * * * * *}")
		@DistributedLock("cron")
		@JobPolicy(whenMissed = JobPolicy.WhenMissed.RUN)
		public void cron() {
			this.called.add("cron");
		}

		@Scheduled(initialDelay = 100)
		@DistributedLock("once")
		public void once() {
			this.called.add("once");
		}

	}

}
