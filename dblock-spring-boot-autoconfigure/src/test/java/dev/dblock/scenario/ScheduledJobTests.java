package dev.dblock.scenario;

import java.lang.reflect.Method;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.InvalidJobException;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.ScheduledMethodRunnable;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Jobs of three instances that have nothing but the two annotations.
 */
@ExtendWith(OutputCaptureExtension.class)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class ScheduledJobTests {

	private static final Duration LONG = Duration.ofSeconds(120);

	private static final int PLANNED_TIMES = 10;

	private static final Pattern CLOCKS = Pattern
		.compile("The clock of this instance shows (\\S+), but that of the MongoDB server shows (\\S+)\\. Jobs run by");

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
			.forEach((number) -> this.instances.startApplication("instance-" + number, Application.class));
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

	@Test
	void beansThatAreCreatedLaterAreJobs() throws Exception {
		for (int number = 1; number <= 3; number++) {
			this.instances.startApplication("instance-" + number, LateApplication.class).getBean(LateJob.class);
		}
		await().atMost(LONG).until(() -> runs("late").size() >= PLANNED_TIMES);
		this.instances.close();
		assertThat(runs("late")).extracting(JobRun::plannedAt).doesNotHaveDuplicates().isSorted();
	}

	/**
	 * The example of the page about scheduled jobs.
	 */
	@Test
	void scheduleThatChangesAtRunTimeIsFollowedByAllInstances(CapturedOutput output) throws Exception {
		ChangingApplication.cron = "0/2 * * * * *";
		for (int number = 1; number <= 3; number++) {
			this.instances.startApplication("instance-" + number, ChangingApplication.class);
		}
		await().atMost(LONG).until(() -> runs("invoices").size() >= 2);
		ChangingApplication.cron = "* * * * * *";
		await().atMost(LONG)
			.until(() -> runs("invoices").stream()
				.filter((run) -> run.plannedAt().getEpochSecond() % 2 == 1)
				.count() >= 3);
		this.instances.close();
		assertThat(runs("invoices")).extracting(JobRun::plannedAt).doesNotHaveDuplicates().isSorted();
		assertThat(output).doesNotContain("does not know the planned time");
	}

	@Test
	void beanWhoseJobHasTheIdOfAnotherIsNotCreated() {
		ApplicationContext context = this.instances.startApplication("instance", LateApplication.class);
		context.getBean(LateJob.class);
		assertThatExceptionOfType(BeanCreationException.class).isThrownBy(() -> context.getBean(SameId.class))
			.withRootCauseInstanceOf(InvalidJobException.class)
			.withStackTraceContaining("are different jobs with the same id 'late'");
	}

	@Test
	void jobOfAChildWithTheIdOfAJobOfItsParentStopsTheStart() {
		ConfigurableApplicationContext parent = this.instances.startApplication("instance", ParentApplication.class);
		assertThatExceptionOfType(InvalidJobException.class)
			.isThrownBy(() -> this.instances.startChild(parent, ChildApplication.class))
			.withMessageContainingAll("bean 'parentJob', ", "LateJob#run() of another application context",
					"bean 'childJob', ", "are different jobs with the same id 'late'", "@JobPolicy(id = …)");
		this.instances.startChild(parent, OtherIdApplication.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "5h", "-5h" })
	void clockThatIsHoursOffPoisonsNothing(String ahead, CapturedOutput output) throws Exception {
		this.instances.startApplication("right", Application.class);
		// Without any run, no instance could know that a planned time is too early
		await().atMost(LONG).until(() -> !runs("cron").isEmpty());
		this.instances.startApplication("wrong", Application.class, "clock.ahead=" + ahead);
		await().atMost(LONG).until(() -> runs("cron").size() >= PLANNED_TIMES);
		this.instances.close();
		assertThat(runs("cron")).extracting(JobRun::plannedAt).doesNotHaveDuplicates().isSorted();
		assertThat(runs("cron"))
			.allMatch((run) -> Duration.between(run.plannedAt(), run.startedAt()).compareTo(Duration.ofHours(1)) < 0
					&& run.plannedAt().isBefore(run.startedAt().plusMillis(250)));
		assertThat(CLOCKS.matcher(output.toString()).results()).filteredOn(ScheduledJobTests::differByHours)
			.as("%s", output)
			.hasSize(1);
	}

	/**
	 * Return whether it is the clock of the test that is reported: a busy machine may
	 * delay the answer about one that is right.
	 */
	private static boolean differByHours(MatchResult message) {
		return Duration.between(Instant.parse(message.group(1)), Instant.parse(message.group(2))).abs().toHours() > 0;
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

		@Bean
		SchedulingConfigurer scheduler(ThreadPoolTaskScheduler scheduler) {
			return (registrar) -> registrar.setTaskScheduler(scheduler);
		}

		@Bean
		ThreadPoolTaskScheduler taskScheduler(@Value("${clock.ahead:0s}") Duration ahead) {
			ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
			scheduler.setPoolSize(4);
			scheduler.setClock(Clock.offset(Clock.systemDefaultZone(), ahead));
			return scheduler;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class LateApplication {

		@Bean
		@Lazy
		LateJob lateJob() {
			return new LateJob();
		}

		@Bean
		@Lazy
		SameId sameId() {
			return new SameId();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class ParentApplication {

		@Bean
		LateJob parentJob() {
			return new LateJob();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class ChildApplication {

		@Bean
		SameId childJob() {
			return new SameId();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class OtherIdApplication {

		@Bean
		OtherId childJob() {
			return new OtherId();
		}

	}

	static class LateJob {

		@Scheduled(cron = "* * * * * *")
		@DistributedLock(name = "late")
		void run() {
			Jobs.ran("late");
		}

	}

	static class SameId {

		@Scheduled(cron = "0 0 0 1 1 *")
		@DistributedLock(name = "late")
		void run() {
		}

	}

	static class OtherId {

		@Scheduled(cron = "0 0 0 1 1 *")
		@DistributedLock(name = "late")
		@JobPolicy(id = "other")
		void run() {
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
				ran("mono", ReactiveLockTemplate.current(context).flatMap(JobRun::of));
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
			ran(name, JobRun.current());
		}

		private static void ran(String name, Optional<JobRun> run) {
			RUNS.computeIfAbsent(name, (key) -> new CopyOnWriteArrayList<>()).add(run.orElseThrow());
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class ChangingApplication {

		private static volatile String cron = "-";

		@Bean
		InvoiceJob job() {
			return new InvoiceJob();
		}

		@Bean
		SchedulingConfigurer invoices(InvoiceJob job) {
			Method invoice = ReflectionUtils.findMethod(InvoiceJob.class, "invoice");
			return (registrar) -> registrar.addTriggerTask(new ScheduledMethodRunnable(job, invoice),
					(context) -> new CronTrigger(cron).nextExecution(context));
		}

	}

	static class InvoiceJob {

		@DistributedLock(name = "invoices")
		public void invoice() {
			RUNS.computeIfAbsent("invoices", (key) -> new CopyOnWriteArrayList<>()).add(JobRun.current().orElseThrow());
		}

	}

}
