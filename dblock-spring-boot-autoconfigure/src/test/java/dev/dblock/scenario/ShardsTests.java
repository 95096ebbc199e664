package dev.dblock.scenario;

import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.mongodb.MongoNamespace;
import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockOptions;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobOperations.ManualRun;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobShards;
import dev.dblock.job.event.JobMissedEvent;
import dev.dblock.job.event.JobShardsOverEvent;
import dev.dblock.job.event.JobStartedEvent;
import dev.dblock.job.schedule.InvalidJobException;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import dev.dblock.testing.Stubborn;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * Jobs whose planned times have shards, on several instances.
 */
@SameOnEachJdk
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class ShardsTests {

	private static final String LONG_LEASE = "dblock.locks.report.lease=2m";

	private static final Queue<Ran> RAN = new ConcurrentLinkedQueue<>();

	private static final Queue<JobShards> OVER = new ConcurrentLinkedQueue<>();

	private static final Set<JobRun> BEGUN = ConcurrentHashMap.newKeySet();

	private static final Queue<JobMissedEvent> MISSED = new ConcurrentLinkedQueue<>();

	private static volatile Predicate<JobRun> work = (run) -> true;

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		RAN.clear();
		OVER.clear();
		MISSED.clear();
		BEGUN.clear();
		work = (run) -> true;
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
		assertThat(OVER).extracting(JobShards::plannedAt).doesNotHaveDuplicates();
	}

	@ParameterizedTest
	@CsvSource({ "3, 1", "1, 3" })
	void instancesWorkOnDifferentShardsAtTheSameTime(int count, int concurrency) {
		CyclicBarrier together = new CyclicBarrier(3);
		work = (run) -> {
			try {
				together.await(60, TimeUnit.SECONDS);
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
			return true;
		};
		for (int i = 0; i < count; i++) {
			this.instances.startApplication("instance-" + i,
					(concurrency == 1) ? Application.class : ConcurrentApplication.class,
					"spring.task.scheduling.pool.size=4");
		}
		Instances.eventually().until(() -> OVER.size() >= 2);
		work = (run) -> true;
		together.reset();
		assertThat(OVER).extracting(JobShards::plannedAt).doesNotHaveDuplicates();
		JobShards first = OVER.peek();
		assertThat(first.describe()).isEqualTo("6 of 6 succeeded");
		Map<String, Long> shares = RAN.stream()
			.filter((ran) -> ran.run().plannedAt().equals(first.plannedAt()))
			.collect(Collectors.groupingBy(Ran::instance, Collectors.counting()));
		assertThat(shares).hasSize(count).allSatisfy((instance, share) -> assertThat(share).isEqualTo(6L / count));
	}

	@Test
	void eachShardOfAPlannedTimeRunsOnceAndAllHaveOneNumber() {
		start("two", "shards=2");
		start("four", "shards=4");
		start("seven", "shards=7");
		Instances.eventually().until(() -> OVER.size() >= 6);
		List<Instant> over = OVER.stream().map(JobShards::plannedAt).toList();
		Map<Instant, List<JobRun>> runs = RAN.stream()
			.map(Ran::run)
			.filter((run) -> over.contains(run.plannedAt()))
			.collect(Collectors.groupingBy(JobRun::plannedAt));
		assertThat(runs.values()).allSatisfy((ofOne) -> {
			int shards = ofOne.get(0).shards();
			assertThat(shards).isIn(2, 4, 7);
			assertThat(ofOne).extracting(JobRun::shards).containsOnly(shards);
			assertThat(ofOne).extracting(JobRun::shard)
				.containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(1, shards).boxed().toList());
		});
		assertThat(BEGUN).extracting(JobRun::plannedAt).doesNotHaveDuplicates().containsAll(over);
	}

	@Test
	void eachShardHasALockARecordAndATokenOfItsOwn() {
		ConfigurableApplicationContext context = start("instance");
		Instances.eventually().until(() -> !OVER.isEmpty());
		assertThat(RAN).allSatisfy((ran) -> {
			assertThat(ran.lock()).isEqualTo("report (shard " + ran.run().shard() + ")");
			assertThat(ran.run().jobId()).isEqualTo(ran.lock());
			assertThat(ran.run().token()).isPositive();
		});
		JobOperations jobs = context.getBean(JobOperations.class);
		JobInfo shard = jobs.find("report (shard 3)").orElseThrow();
		assertThat(shard.runs().get(0).shards()).isEqualTo(6);
		assertThat(shard.shards()).isEmpty();
		assertThatIllegalArgumentException().isThrownBy(() -> jobs.pause("report (shard 3)", "operator"))
			.withMessage("'report (shard 3)' is a shard; use the job 'report'");
		assertThat(context.getBean(JobOperations.class).ids()).containsExactly("report");
		assertThat(this.instances.document("report (shard 3)")
			.getEmbedded(List.of("jobs", "report (shard 3)", "last"), Document.class)).containsEntry("shards", 6);
	}

	@Test
	void aShardThatFailsIsCountedAndTheOthersRun() {
		work = (run) -> run.shard() != 2;
		ConfigurableApplicationContext context = start("instance");
		Instances.eventually().until(() -> !OVER.isEmpty());
		JobShards over = OVER.peek();
		assertThat(over.describe()).isEqualTo("5 of 6 succeeded, 1 failed");
		assertThat(context.getBean(JobOperations.class).find("report").orElseThrow().shards()).contains(over);
	}

	@Test
	void aShardWhoseLeaseWasLostIsRepeatedByAnotherInstance() throws Exception {
		CountDownLatch lost = new CountDownLatch(1);
		Set<String> firsts = ConcurrentHashMap.newKeySet();
		work = (run) -> {
			if (run.shard() == 2 && run.attempt() == 1 && firsts.add("first")) {
				Stubborn.await(lost);
			}
			return true;
		};
		start("one", "cron=0/10 * * * * *");
		start("two", "cron=0/10 * * * * *");
		Instances.eventually().until(() -> !firsts.isEmpty());
		this.instances.expire("report (shard 2)");
		Instances.eventually()
			.until(() -> RAN.stream().anyMatch((ran) -> ran.run().shard() == 2 && ran.run().attempt() == 2));
		lost.countDown();
		Instances.eventually().until(() -> OVER.stream().anyMatch((over) -> over.succeeded() == 6));
	}

	// As after a crash of all instances that worked on it
	@Test
	void anInstanceThatStartsContinuesWithTheShardsThatAreOpen() throws Exception {
		ZonedDateTime planned = ZonedDateTime.now().minusMinutes(2).truncatedTo(ChronoUnit.SECONDS);
		Instance before = this.instances.start("before");
		JobFiring begins = JobFiring.at(planned.toInstant()).shards(3);
		before.locks().acquire("report", LockOptions.defaults().claim(begins)).release();
		before.locks().acquire("report (shard 2)", LockOptions.defaults().claim(begins)).release();
		start("after", "cron=" + planned.format(DateTimeFormatter.ofPattern("s m H d M")) + " *", "shards=5");
		Instances.eventually().until(() -> !OVER.isEmpty());
		assertThat(OVER).extracting(JobShards::plannedAt).containsExactly(planned.toInstant());
		assertThat(OVER).extracting(JobShards::describe).containsExactly("3 of 3 succeeded");
		assertThat(RAN).extracting((ran) -> ran.run().shard()).containsExactlyInAnyOrder(1, 3);
		assertThat(BEGUN).isEmpty();
	}

	@Test
	void anInstanceThatStartsContinuesWithTheShardsThoughTheJobWasPausedMeanwhile() throws Exception {
		ZonedDateTime planned = ZonedDateTime.now().minusMinutes(2).truncatedTo(ChronoUnit.SECONDS);
		JobOperations operator = start("operator", "cron=0 0 0 1 1 *").getBean(JobOperations.class);
		Instance before = this.instances.start("before");
		JobFiring begins = JobFiring.at(planned.toInstant()).shards(3);
		before.locks().acquire("report", LockOptions.defaults().claim(begins)).release();
		operator.pause("report", "operator");
		start("after", "cron=" + planned.format(DateTimeFormatter.ofPattern("s m H d M")) + " *");
		Instances.eventually().until(() -> !OVER.isEmpty());
		assertThat(OVER).extracting(JobShards::describe).containsExactly("3 of 3 succeeded");
		assertThat(BEGUN).isEmpty();
	}

	@Test
	void anInstanceThatCatchesUpFinishesTheShardsOfThePlannedTimeBeforeFirst() throws Exception {
		ZonedDateTime planned = ZonedDateTime.now().minusMinutes(3).truncatedTo(ChronoUnit.SECONDS);
		Instance before = this.instances.start("before");
		JobFiring begins = JobFiring.at(planned.toInstant()).shards(3);
		before.locks().acquire("report", LockOptions.defaults().claim(begins)).release();
		before.locks().acquire("report (shard 2)", LockOptions.defaults().claim(begins)).release();
		date("report", planned.toInstant());
		date("report (shard 2)", planned.toInstant());
		start("after", "cron=" + planned.getSecond() + " * * * * *", "dblock.jobs.report.when-missed=run");
		Instances.eventually().until(() -> OVER.size() >= 2);
		List<JobShards> over = OVER.stream().sorted(Comparator.comparing(JobShards::plannedAt)).toList();
		assertThat(over).extracting(JobShards::describe).startsWith("3 of 3 succeeded", "6 of 6 succeeded");
		assertThat(over.get(0).plannedAt()).isEqualTo(planned.toInstant());
		Instant caughtUp = over.get(1).plannedAt();
		assertThat(caughtUp).isAfterOrEqualTo(planned.plusMinutes(2).toInstant());
		Instances.eventually()
			.untilAsserted(() -> assertThat(MISSED).extracting(JobMissedEvent::plannedAt)
				.filteredOn(caughtUp::isAfter)
				.containsExactlyInAnyOrderElementsOf(Stream
					.iterate(planned.plusMinutes(1).toInstant(), caughtUp::isAfter, (time) -> time.plusSeconds(60))
					.toList()));
	}

	@Test
	void timesWithoutAnInstanceAreMissedThoughAShardOfTheOneBeforeRanAfterThem() throws Exception {
		Instant planned = evenSecondBefore(60);
		Instance before = this.instances.start("before");
		JobFiring begins = JobFiring.at(planned).shards(2);
		before.locks().acquire("report", LockOptions.defaults().claim(begins)).release();
		before.locks().acquire("report (shard 1)", LockOptions.defaults().claim(begins)).release();
		date("report", planned);
		date("report (shard 1)", planned);
		start("after", "shards=2");
		Instances.eventually().until(() -> MISSED.size() >= 25);
		Instances.eventually().untilAsserted(() -> assertThat(OVER).extracting(JobShards::plannedAt).contains(planned));
	}

	@Test
	void aCrashedShardOfAPausedJobIsRepeatedThoughPlannedTimesPass() throws Exception {
		CountDownLatch lost = new CountDownLatch(1);
		Set<String> firsts = ConcurrentHashMap.newKeySet();
		work = (run) -> {
			if (run.shard() == 2 && run.attempt() == 1 && firsts.add("first")) {
				Stubborn.await(lost);
			}
			return true;
		};
		JobOperations jobs = start("one", "shards=2").getBean(JobOperations.class);
		start("two", "shards=2");
		Instances.eventually().until(() -> !firsts.isEmpty());
		jobs.pause("report", "operator");
		Instant pausedAt = jobs.find("report").orElseThrow().at();
		Instances.eventually().until(() -> jobs.find("report").orElseThrow().at().isAfter(pausedAt.plusSeconds(5)));
		this.instances.expire("report (shard 2)");
		Instances.eventually()
			.until(() -> RAN.stream().anyMatch((ran) -> ran.run().shard() == 2 && ran.run().attempt() == 2));
		lost.countDown();
	}

	/**
	 * More planned times than are computed.
	 */
	@Test
	void shardThatDidNotRunIsReportedHoweverLongAgo(CapturedOutput output) throws Exception {
		Instant planned = evenSecondBefore(4000);
		Instance before = this.instances.start("before");
		before.locks()
			.acquire("report (shard 1)", LockOptions.defaults().claim(JobFiring.at(planned).shards(1)))
			.release();
		for (int i = 0; i < 2; i++) {
			JobFiring begins = JobFiring.at(planned.plusSeconds(2 * i)).shards(1);
			before.locks().acquire("report", LockOptions.defaults().claim(begins)).release();
		}
		start("after", "shards=1");
		Instances.eventually().until(() -> !OVER.isEmpty());
		assertThat(output.toString().lines()).filteredOn((line) -> line.contains("The job 'report (shard 1)'"))
			.singleElement()
			.asString()
			.contains("skipped its planned time " + planned.plusSeconds(2) + ": the run for " + planned);
	}

	@Test
	void ofMoreBeginningsThanTheRecordHasTheEarlierOnesAreMentioned(CapturedOutput output) throws Exception {
		Instant planned = evenSecondBefore(120);
		Instance before = this.instances.start("before");
		before.locks()
			.acquire("report (shard 1)", LockOptions.defaults().claim(JobFiring.at(planned).shards(1)))
			.release();
		for (int i = 0; i < 30; i++) {
			JobFiring begins = JobFiring.at(planned.plusSeconds(2 * i)).shards(1);
			before.locks().acquire("report", LockOptions.defaults().claim(begins)).release();
		}
		start("after", "shards=1");
		Instances.eventually().until(() -> !OVER.isEmpty());
		assertThat(output.toString().lines()).filteredOn((line) -> line.contains("The job 'report (shard 1)'"))
			.singleElement()
			.asString()
			.contains("19 planned times and earlier ones, from ");
	}

	@Test
	void anInstanceThatIsClosedBeginsNoOtherShard() throws Exception {
		CountDownLatch working = new CountDownLatch(1);
		CountDownLatch closing = new CountDownLatch(1);
		work = (run) -> {
			working.countDown();
			Stubborn.await(closing);
			return true;
		};
		ConfigurableApplicationContext context = this.instances.startApplication("instance",
				ConcurrentApplication.class, "spring.task.scheduling.shutdown.await-termination=true",
				"spring.task.scheduling.shutdown.await-termination-period=120s");
		Stubborn.await(working);
		Thread close = new Thread(context::close);
		close.start();
		Instances.eventually().until(() -> close.getState() == Thread.State.TIMED_WAITING);
		closing.countDown();
		close.join(TimeUnit.MINUTES.toMillis(2));
		assertThat(close.isAlive()).isFalse();
		assertThat(RAN).hasSize(1);
	}

	// As before a rolling update that introduces shards
	@Test
	void aPlannedTimeThatRanWithoutShardsIsNotRunWithThem() throws Exception {
		Instant planned = evenSecondBefore(4);
		this.instances.start("before")
			.locks()
			.acquire("report", LockOptions.defaults().claim(JobFiring.at(planned)))
			.release();
		start("after");
		Instances.eventually().until(() -> OVER.size() >= 2);
		assertThat(RAN).noneMatch((ran) -> ran.run().plannedAt().equals(planned));
	}

	@Test
	void shardsThatWereNotRunAreReportedOnceThoughTheNextPlannedTimeHasFewer(CapturedOutput output) throws Exception {
		Instant planned = evenSecondBefore(60);
		Instance before = this.instances.start("before");
		JobFiring earlier = JobFiring.at(planned.minusSeconds(2)).shards(6);
		for (int number = 1; number <= 6; number++) {
			before.locks().acquire("report (shard " + number + ")", LockOptions.defaults().claim(earlier)).release();
		}
		before.locks().acquire("report", LockOptions.defaults().claim(earlier)).release();
		before.locks().acquire("report", LockOptions.defaults().claim(JobFiring.at(planned).shards(6))).release();
		start("one", "shards=2", "dblock.jobs.report.start-within=1s");
		start("two", "shards=2", "dblock.jobs.report.start-within=1s");
		Instances.eventually().until(() -> OVER.size() >= 2);
		for (int number = 1; number <= 6; number++) {
			// The runs before were released late
			String report = "The job 'report (shard " + number + ")' skipped its planned time " + planned;
			assertThat(StringUtils.countOccurrencesOf(output.toString(), report)).as(report).isOne();
		}
		assertThat(RAN).extracting((ran) -> ran.run().shard()).containsOnly(1, 2);
	}

	/**
	 * Let the last run of a lock have taken place at an earlier time.
	 */
	private void date(String lock, Instant at) {
		String last = "jobs." + lock + ".last.";
		this.instances.documents()
			.updateOne(new Document("_id", lock),
					new Document("$set", new Document(last + "started", at).append(last + "ended", at)));
	}

	private static Instant evenSecondBefore(int seconds) {
		long now = Instant.now().getEpochSecond() - seconds;
		return Instant.ofEpochSecond(now - now % 2);
	}

	@Test
	void aJobThatWorksOnItsShardsForLongIsNotOverdueAndSkipsWhatItPassesOver(CapturedOutput output) {
		CountDownLatch done = new CountDownLatch(1);
		Set<Instant> blocked = blockTheFirstPlannedTimeUntil(done);
		ConfigurableApplicationContext context = this.instances.startApplication("instance", Application.class,
				"spring.task.scheduling.pool.size=2");
		Instances.eventually().until(() -> !blocked.isEmpty());
		Instant planned = blocked.iterator().next();
		JobOperations jobs = context.getBean(JobOperations.class);
		Instances.eventually().until(() -> jobs.find("report").orElseThrow().at().isAfter(planned.plusSeconds(7)));
		done.countDown();
		Instances.eventually().until(() -> OVER.size() >= 2);
		assertThat(OVER).extracting(JobShards::describe).containsOnly("6 of 6 succeeded");
		assertThat(output).contains("The job 'report' skipped")
			.contains("the shards of an earlier planned time were in progress");
		assertThat(MISSED).isEmpty();
	}

	// It does not know what the others have passed over
	@Test
	void anInstanceThatStartsWhileOthersWorkReportsNothingAsMissed(CapturedOutput output) {
		CountDownLatch done = new CountDownLatch(1);
		Set<Instant> blocked = blockTheFirstPlannedTimeUntil(done);
		ConfigurableApplicationContext one = start("one", "shards=2", LONG_LEASE);
		start("two", "shards=2", LONG_LEASE);
		Instances.eventually().until(() -> RAN.size() == 2);
		Instant planned = blocked.iterator().next();
		JobOperations jobs = one.getBean(JobOperations.class);
		Instances.eventually().until(() -> jobs.find("report").orElseThrow().at().isAfter(planned.plusSeconds(5)));
		start("three", "shards=2", LONG_LEASE);
		Instances.eventually().until(() -> BEGUN.size() >= 2);
		Instant ended = jobs.find("report").orElseThrow().at();
		done.countDown();
		Instances.eventually().until(() -> OVER.size() >= 2);
		assertThat(output).contains("The job 'report' skipped")
			.contains("the shards of an earlier planned time were in progress");
		assertThat(MISSED).noneMatch((event) -> event.plannedAt().isBefore(ended));
	}

	private static Set<Instant> blockTheFirstPlannedTimeUntil(CountDownLatch done) {
		Set<Instant> blocked = ConcurrentHashMap.newKeySet();
		work = (run) -> {
			if (blocked.isEmpty() || blocked.contains(run.plannedAt())) {
				blocked.add(run.plannedAt());
				Stubborn.await(done);
			}
			return true;
		};
		return blocked;
	}

	@Test
	void theEndOfAPlannedTimeIsReportedThoughTheShardsCannotBeReadAtOnce(MongoServer server) {
		CountDownLatch ending = new CountDownLatch(1);
		work = (run) -> {
			Stubborn.await(ending);
			return true;
		};
		start("instance", "cron=0/20 * * * * *", "shards=1", LONG_LEASE);
		Instances.eventually().until(() -> !RAN.isEmpty());
		MongoNamespace locks = this.instances.documents().getNamespace();
		server.failCommand(FailCommand.on("find")
			.forCollection(locks.getDatabaseName(), locks.getCollectionName())
			.errorCode(11601)
			.times(2));
		ending.countDown();
		Instances.eventually().until(() -> !OVER.isEmpty());
		assertThat(OVER.peek().plannedAt()).isEqualTo(RAN.peek().run().plannedAt());
	}

	@Test
	void aPausedJobBeginsNoPlannedTime() {
		ConfigurableApplicationContext context = start("instance");
		JobOperations jobs = context.getBean(JobOperations.class);
		Instances.eventually().until(() -> !OVER.isEmpty());
		jobs.pause("report", "operator");
		Instant pausedAt = jobs.find("report").orElseThrow().at();
		Instant later = pausedAt.plusSeconds(3);
		Instances.eventually().until(() -> jobs.find("report").orElseThrow().at().isAfter(later));
		assertThat(RAN).noneMatch((ran) -> ran.run().plannedAt().isAfter(pausedAt));
		assertThat(jobs.resume("report")).isTrue();
		Instances.eventually().until(() -> RAN.stream().anyMatch((ran) -> ran.run().plannedAt().isAfter(later)));
	}

	@Test
	void anOperatorCannotRunAJobWithShards() {
		JobOperations jobs = start("instance", "cron=0 0 0 1 1 *").getBean(JobOperations.class);
		assertThat(jobs.runNow("report").outcome()).isEqualTo(ManualRun.Outcome.REFUSED);
		assertThat(jobs.runNow("report").description()).contains("shards");
		assertThat(RAN).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(strings = { "0", "1001", "-1", "many", "2.5" })
	void aNumberThatIsNotPossibleIsRefusedAtStart(String shards) {
		assertThatExceptionOfType(InvalidJobException.class).isThrownBy(() -> start("instance", "shards=" + shards))
			.withMessageContaining("shardsString = \"${shards:6}\", which is '" + shards
					+ "', is not a number from 1 to 1000; write into how many parts the work is divided");
	}

	private ConfigurableApplicationContext start(String name, String... properties) {
		return this.instances.startApplication(name, Application.class, properties);
	}

	@Test
	void aTextThatGivesNoNumberIsRefusedAtStart() {
		assertThatExceptionOfType(InvalidJobException.class).isThrownBy(() -> start("instance", "shards="))
			.withMessageContaining("gives no number");
	}

	@ParameterizedTest
	@ValueSource(classes = { FixedRateApplication.class, MonoApplication.class, AsyncApplication.class,
			TwoSchedulesApplication.class, NamedByExpressionApplication.class, PermitsApplication.class,
			ConcurrencyAloneApplication.class, ConditionalApplication.class, SharedLockApplication.class })
	void aMethodThatCannotHaveShardsIsRefusedAtStart(Class<?> application) {
		assertThatExceptionOfType(InvalidJobException.class)
			.isThrownBy(() -> this.instances.startApplication("instance", application))
			.withMessageContaining((application == PermitsApplication.class) ? "permits"
					: (application == SharedLockApplication.class) ? "have the same lock 'report'" : "shards");
	}

	private record Ran(String instance, String lock, JobRun run) {
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class Application {

		@Scheduled(cron = "${cron:0/2 * * * * *}")
		@DistributedLock(name = "report", leaseSeconds = 2)
		@JobPolicy(shardsString = "${shards:6}", whenCrashed = WhenCrashed.RERUN)
		public void report() {
			JobRun run = JobRun.current().orElseThrow();
			RAN.add(new Ran(run.instance(), LockContext.current().orElseThrow().name(), run));
			if (!work.test(run)) {
				throw new IllegalStateException("Shard " + run.shard() + " failed");
			}
		}

		@EventListener
		void over(JobShardsOverEvent event) {
			OVER.add(event.shards());
		}

		@EventListener
		void missed(JobMissedEvent event) {
			MISSED.add(event);
		}

		@EventListener
		void begun(JobStartedEvent event) {
			if (event.run().shard() == 0) {
				BEGUN.add(event.run());
			}
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class ConcurrentApplication extends Application {

		@Override
		@Scheduled(cron = "0/2 * * * * *")
		@DistributedLock(name = "report", leaseSeconds = 2)
		@JobPolicy(shards = 6, concurrency = 3)
		public void report() {
			super.report();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class FixedRateApplication {

		@Scheduled(fixedRate = 1000)
		@DistributedLock(name = "report", leaseSeconds = 2)
		@JobPolicy(shards = 6)
		public void report() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class MonoApplication {

		@Scheduled(cron = "0/2 * * * * *")
		@DistributedLock(name = "report", leaseSeconds = 2)
		@JobPolicy(shards = 6)
		public Mono<Void> report() {
			return Mono.empty();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class AsyncApplication {

		@Async
		@Scheduled(cron = "0/2 * * * * *")
		@DistributedLock(name = "report", leaseSeconds = 2)
		@JobPolicy(shards = 6)
		public void report() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class TwoSchedulesApplication {

		@Scheduled(cron = "0/2 * * * * *")
		@Scheduled(cron = "0 0 * * * *")
		@DistributedLock(name = "report", leaseSeconds = 2)
		@JobPolicy(shards = 6)
		public void report() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class NamedByExpressionApplication {

		@Scheduled(cron = "0/2 * * * * *")
		@DistributedLock(name = "report-#{#root.methodName}", leaseSeconds = 2)
		@JobPolicy(shards = 6)
		public void report() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class PermitsApplication {

		@Scheduled(cron = "0/2 * * * * *")
		@DistributedLock(name = "report", permits = 2, leaseSeconds = 2)
		@JobPolicy(shards = 6)
		public void report() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class SharedLockApplication {

		@Scheduled(cron = "0/2 * * * * *")
		@DistributedLock(name = "report", leaseSeconds = 2)
		@JobPolicy(shards = 6)
		public void report() {
		}

		@Scheduled(cron = "0/2 * * * * *")
		@DistributedLock(name = "report", leaseSeconds = 2)
		@JobPolicy(id = "other")
		public void other() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class ConcurrencyAloneApplication {

		@Scheduled(cron = "0/2 * * * * *")
		@DistributedLock(name = "report", leaseSeconds = 2)
		@JobPolicy(concurrency = 2)
		public void report() {
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EnableScheduling
	static class ConditionalApplication {

		@Scheduled(cron = "0/2 * * * * *")
		@DistributedLock(name = "report", condition = "true", leaseSeconds = 2)
		@JobPolicy(shards = 6)
		public void report() {
		}

	}

}
