package dev.dblock.scenario;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.mongodb.client.model.Filters;
import dev.dblock.DistributedLock;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobPolicy.WhenMissed;
import dev.dblock.job.JobRun;
import dev.dblock.job.event.JobMissedEvent;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoNode;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.annotation.SchedulingConfigurer;
import org.springframework.scheduling.support.ScheduledMethodRunnable;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Planned times of jobs at which there is no server, or no instance.
 */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
@MongoServerTest(kind = MongoServerKind.STANDALONE, fresh = true, faults = true)
@SameOnEachJdk
class MissedPlannedTimesTests {

	private static final Instant NOW = Instant.now();

	/**
	 * Today's planned time, which can start for the rest of an hour; the next one is
	 * tomorrow.
	 */
	private static final Instant PLANNED = NOW.minus(Duration.ofMinutes(10)).truncatedTo(ChronoUnit.MINUTES);

	private static final Instant BEFORE = PLANNED.minus(Duration.ofMinutes(5));

	private static final String DAILY = "job.cron=" + daily(PLANNED);

	private static final String EARLIER = "job.earlier=" + daily(BEFORE);

	private static final Map<String, List<JobRun>> RUNS = new ConcurrentHashMap<>();

	private MongoServer server;

	private Instances instances;

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
	void plannedTimeOfAnOutageIsRunOnceAfterIt(CapturedOutput output) throws Exception {
		MongoNode node = this.server.nodes().get(0);
		node.kill();
		this.instances.startApplication("one", LateApplication.class, "dblock.mongodb.timeout=2s");
		this.instances.startApplication("two", LateApplication.class, "dblock.mongodb.timeout=2s");
		Instances.eventually()
			.until(() -> output.toString().split("for the lock of the job 'late' failed", -1).length > 2);
		node.restart();
		Instances.eventually().until(() -> !runs("late").isEmpty());
		Instances.eventually().until(() -> this.instances.isReleased("late"));
		this.instances.close();
		assertThat(runs("late")).singleElement().extracting(JobRun::plannedAt).isEqualTo(PLANNED);
		assertThat(output).doesNotContain("missed its planned time").doesNotContain("Unexpected error");
	}

	@Test
	void onlyTheLatestOfTwoSchedulesIsRunAfterAnOutage(CapturedOutput output) throws Exception {
		MongoNode node = this.server.nodes().get(0);
		node.kill();
		for (String name : List.of("one", "two")) {
			this.instances.startApplication(name, TwoSchedulesApplication.class, "dblock.mongodb.timeout=2s",
					"spring.task.scheduling.pool.size=4");
		}
		Instances.eventually()
			.until(() -> output.toString().split("for the lock of the job 'late' failed", -1).length > 4);
		node.restart();
		Instances.eventually().until(() -> !runs("late").isEmpty());
		Instances.eventually().until(() -> this.instances.isReleased("late"));
		this.instances.close();
		assertThat(runs("late")).singleElement().extracting(JobRun::plannedAt).isEqualTo(PLANNED);
		assertThat(output).as("by the instance that ran the later one").containsOnlyOnce(missed(BEFORE));
		assertThat(output).doesNotContain(missed(PLANNED));
	}

	private static String daily(Instant planned) {
		return DateTimeFormatter.ofPattern("0 m H * * *").withZone(ZoneOffset.UTC).format(planned);
	}

	private static String missed(Instant planned) {
		return "missed its planned time " + planned;
	}

	@Test
	void latestOfThreeMissedPlannedTimesIsRunOnceWhereThatIsDeclared() throws Exception {
		Instance seed = this.instances.start("seed");
		LockOptions before = LockOptions.defaults().claim(JobFiring.at(PLANNED.minus(Duration.ofDays(3))));
		for (String name : List.of("run", "skip", "two")) {
			seed.locks().execute(name, before, () -> true);
		}
		seed.locks()
			.acquire("crashed", LockOptions.lease(Duration.ofSeconds(2)).autoRenew(false).claim(JobFiring.at(PLANNED)));
		for (int i = 0; i < 3; i++) {
			this.instances.startApplication("instance-" + i, DailyApplication.class, DAILY, EARLIER);
		}
		Instances.eventually().until(() -> RUNS.keySet().containsAll(List.of("run", "crashed", "two")));
		Instances.eventually()
			.until(() -> List.of("run", "crashed", "two").stream().allMatch(this.instances::isReleased));
		this.instances.close();
		assertThat(RUNS).containsOnlyKeys("run", "crashed", "two");
		assertThat(runs("two")).as("two schedules").singleElement().extracting(JobRun::plannedAt).isEqualTo(PLANNED);
		assertThat(runs("run")).singleElement().extracting(JobRun::plannedAt).isEqualTo(PLANNED);
		assertThat(runs("crashed")).singleElement().satisfies((run) -> {
			assertThat(run.plannedAt()).isEqualTo(PLANNED);
			assertThat(run.attempt()).isEqualTo(2);
		});
	}

	@Test
	void runThatTheShutdownInterruptsIsRepeatedByAnotherInstance() throws Exception {
		ConfigurableApplicationContext closing = this.instances.startApplication("one", InterruptedApplication.class,
				"spring.lifecycle.timeout-per-shutdown-phase=100ms");
		Instances.eventually().until(() -> runs("interrupted").size() == 1);
		this.instances.startApplication("two", InterruptedApplication.class);
		closing.close();
		Instances.eventually().until(() -> runs("interrupted").size() == 2);
		assertThat(runs("interrupted").get(1).plannedAt()).isEqualTo(PLANNED);
		assertThat(runs("interrupted").get(1).attempt()).isEqualTo(2);
		assertThat(this.instances.documents().find(Filters.eq("_id", "interrupted")).first().toString())
			.contains("LOST", "java.lang.InterruptedException");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void runsSinceTheBackupAreOnlyRepeatedByPoliciesAfterARestore(boolean skipped) throws Exception {
		Instance seed = this.instances.start("seed");
		LockOptions before = LockOptions.defaults().claim(JobFiring.at(PLANNED.minus(Duration.ofDays(1))));
		for (String name : List.of("run", "skip")) {
			seed.locks().execute(name, before, () -> true);
		}
		LockHandle running = seed.locks()
			.acquire("crashed", LockOptions.lease(Duration.ofSeconds(1)).claim(JobFiring.at(PLANNED)));
		List<Document> backup = this.instances.documents().find().into(new ArrayList<>());
		running.release();
		for (String name : List.of("run", "skip")) {
			seed.locks().execute(name, LockOptions.defaults().claim(JobFiring.at(PLANNED)), () -> true);
		}
		backup.forEach(
				(document) -> this.instances.documents().replaceOne(Filters.eq("_id", document.get("_id")), document));
		this.instances.startApplication("one", DailyApplication.class, DAILY, EARLIER,
				"dblock.jobs.run.when-missed=" + (skipped ? "skip" : "run"),
				"dblock.jobs.crashed.when-crashed=" + (skipped ? "skip" : "rerun"));
		if (skipped) {
			Instances.eventually().during(Duration.ofSeconds(4)).until(RUNS::isEmpty);
		}
		else {
			Instances.eventually().until(() -> RUNS.keySet().containsAll(List.of("run", "crashed")));
			Instances.eventually().until(() -> List.of("run", "crashed").stream().allMatch(this.instances::isReleased));
			assertThat(RUNS).containsOnlyKeys("run", "crashed");
			assertThat(runs("run")).singleElement().extracting(JobRun::plannedAt).isEqualTo(PLANNED);
			assertThat(runs("crashed")).singleElement().extracting(JobRun::attempt).isEqualTo(2);
		}
		this.instances.close();
	}

	@Test
	void plannedTimeThatIsGivenUpIsReported() throws Exception {
		this.instances.start("another").locks().acquire("impatient", LockOptions.lease(Duration.ofMinutes(10)));
		ApplicationContext context = this.instances.startApplication("one", ImpatientApplication.class);
		Queue<JobMissedEvent> missed = context.getBean(Misses.class).events;
		Instances.eventually().until(() -> !missed.isEmpty());
		Instances.eventually()
			.until(() -> context.getBean(MeterRegistry.class)
				.find("dblock.job.missed")
				.tag("job.id", "impatient")
				.counters()
				.stream()
				.mapToDouble(Counter::count)
				.sum() == 1);
		assertThat(missed).containsExactly(new JobMissedEvent("impatient", "impatient", PLANNED));
		assertThat(runs("impatient")).isEmpty();
	}

	@Test
	void allPlannedTimesOfAJobThatNeverRanAreReported() {
		this.server.failCommand(FailCommand.on("findAndModify").errorCode(11601));
		ApplicationContext context = this.instances.startApplication("one", FreshApplication.class);
		Instant later = Instant.now().plusSeconds(7);
		Instances.eventually().until(() -> Instant.now().isAfter(later));
		this.server.clearFailPoints();
		Instances.eventually().until(() -> !runs("fresh").isEmpty());
		Instant ran = runs("fresh").get(0).plannedAt();
		Queue<JobMissedEvent> missed = context.getBean(Misses.class).events;
		// Published in threads of their own
		Instances.eventually().untilAsserted(() -> {
			List<Instant> times = missed.stream().map(JobMissedEvent::plannedAt).filter(ran::isAfter).sorted().toList();
			assertThat(times).hasSizeGreaterThan(2);
			assertThat(times).isEqualTo(IntStream.rangeClosed(1, times.size())
				.mapToObj((i) -> ran.minusSeconds(2L * (times.size() + 1 - i)))
				.toList());
		});
	}

	private static void ran(String name) {
		RUNS.computeIfAbsent(name, (key) -> new CopyOnWriteArrayList<>()).add(JobRun.current().orElseThrow());
	}

	private static SchedulingConfigurer once(LateJob job, Instant... planned) {
		Runnable task = new ScheduledMethodRunnable(job, ReflectionUtils.findMethod(LateJob.class, "run"));
		return (registrar) -> Stream.of(planned)
			.forEach((at) -> registrar.addTriggerTask(task,
					(context) -> (context.lastScheduledExecution() == null) ? at : null));
	}

	private static List<JobRun> runs(String name) {
		return RUNS.getOrDefault(name, List.of());
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class LateApplication {

		@Bean
		LateJob job() {
			return new LateJob();
		}

		@Bean
		SchedulingConfigurer late(LateJob job) {
			return once(job, PLANNED);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class TwoSchedulesApplication {

		@Bean
		LateJob job() {
			return new LateJob();
		}

		@Bean
		SchedulingConfigurer late(LateJob job) {
			return once(job, BEFORE, PLANNED);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class InterruptedApplication {

		@Bean
		InterruptedJob job() {
			return new InterruptedJob();
		}

		@Bean
		SchedulingConfigurer once(InterruptedJob job) {
			return (registrar) -> registrar.addTriggerTask(
					new ScheduledMethodRunnable(job, ReflectionUtils.findMethod(InterruptedJob.class, "run")),
					(context) -> (context.lastScheduledExecution() == null) ? PLANNED : null);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class FreshApplication {

		@Scheduled(cron = "0/2 * * * * *")
		@DistributedLock(name = "fresh")
		@JobPolicy(startWithinString = "500ms")
		public void run() {
			ran("fresh");
		}

		@Bean
		Misses misses() {
			return new Misses();
		}

	}

	static class InterruptedJob {

		@DistributedLock(name = "interrupted")
		@JobPolicy(whenCrashed = WhenCrashed.RERUN)
		public void run() throws InterruptedException {
			ran("interrupted");
			if (runs("interrupted").size() == 1) {
				new CountDownLatch(1).await();
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class ImpatientApplication {

		@Bean
		ImpatientJob job() {
			return new ImpatientJob();
		}

		@Bean
		Misses misses() {
			return new Misses();
		}

		@Bean
		SchedulingConfigurer impatient(ImpatientJob job) {
			Runnable task = new ScheduledMethodRunnable(job, ReflectionUtils.findMethod(ImpatientJob.class, "run"));
			return (registrar) -> registrar.addTriggerTask(task,
					(context) -> (context.lastScheduledExecution() == null) ? PLANNED : null);
		}

	}

	static class ImpatientJob {

		@DistributedLock(name = "impatient")
		@JobPolicy(startWithinSeconds = 1)
		void run() {
			ran("impatient");
		}

	}

	static class Misses {

		final Queue<JobMissedEvent> events = new ConcurrentLinkedQueue<>();

		@EventListener
		void on(JobMissedEvent event) {
			this.events.add(event);
		}

	}

	static class LateJob {

		@DistributedLock(name = "late")
		@JobPolicy(startWithinString = "2h")
		void run() {
			ran("late");
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class DailyApplication {

		@Bean
		DailyJobs jobs() {
			return new DailyJobs();
		}

	}

	static class DailyJobs {

		@Scheduled(cron = "${job.cron}", zone = "UTC")
		@DistributedLock(name = "run")
		@JobPolicy(whenMissed = WhenMissed.RUN, startWithinString = "2h")
		void run() {
			ran("run");
		}

		@Scheduled(cron = "${job.cron}", zone = "UTC")
		@Scheduled(cron = "${job.earlier}", zone = "UTC")
		@DistributedLock(name = "two")
		@JobPolicy(whenMissed = WhenMissed.RUN, startWithinString = "2h")
		void two() {
			ran("two");
		}

		@Scheduled(cron = "${job.cron}", zone = "UTC")
		@DistributedLock(name = "skip")
		void skip() {
			ran("skip");
		}

		@Scheduled(cron = "${job.cron}", zone = "UTC")
		@DistributedLock(name = "first")
		@JobPolicy(whenMissed = WhenMissed.RUN, startWithinString = "2h")
		void first() {
			ran("first");
		}

		@Scheduled(cron = "${job.cron}", zone = "UTC")
		@DistributedLock(name = "crashed")
		@JobPolicy(whenCrashed = WhenCrashed.RERUN)
		void crashed() {
			ran("crashed");
		}

	}

}
