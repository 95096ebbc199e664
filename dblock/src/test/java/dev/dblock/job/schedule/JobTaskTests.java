package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.dblock.LockInfo;
import dev.dblock.LockRefusal;
import dev.dblock.engine.LockEngine;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobPolicy.WhenClockChanges;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.JobEngine.JobRecords;
import dev.dblock.job.trigger.MovedClock;
import dev.dblock.job.trigger.StoreClock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.SimpleTriggerContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When a task fires again after the answers to its firings.
 */
@ExtendWith(OutputCaptureExtension.class)
class JobTaskTests {

	private static final String NAME = "job";

	private static final Duration START_WITHIN = Duration.ofMinutes(10);

	private static final Duration PERIOD = Duration.ofSeconds(2);

	private static final Schedule RATE = new Schedule.FixedRate(PERIOD);

	private static final Schedule DELAY = new Schedule.FixedDelay(PERIOD);

	private final MovedClock time = new MovedClock("2026-03-01T12:00:00Z");

	private final Timers timers = new Timers();

	private final List<JobFiring> firings = new ArrayList<>();

	private Consumer<BoundCall> answer = (call) -> {
	};

	private final List<Boolean> repeated = new ArrayList<>();

	private final List<Boolean> settled = new ArrayList<>();

	private final List<Instant> givenUp = new ArrayList<>();

	private boolean rerun;

	private boolean runMissed;

	private Supplier<Optional<JobStatus>> status = Optional::empty;

	private Function<Instant, Optional<JobStatus>> expired = (planned) -> Optional.empty();

	private final List<Duration> limits = new ArrayList<>();

	private final JobEngine engine = new JobEngine(new JobRecords() {

		@Override
		public Optional<JobStatus> find(String fullName, String jobId, @Nullable Duration limit) {
			JobTaskTests.this.limits.add(limit);
			return JobTaskTests.this.status.get();
		}

		@Override
		public Optional<JobStatus> expire(Instant planned) {
			return JobTaskTests.this.expired.apply(planned);
		}

		@Override
		public void missed(String fullName, String jobId, Instant plannedAt) {
			assertThat(List.of(fullName, jobId)).containsOnly(NAME);
			JobTaskTests.this.givenUp.add(plannedAt);
		}

	});

	private final JobMethod method = new JobMethod("bean", JobTaskTests.class, "run", this::declaration);

	private final JobTask task = new JobTask(this::run, Set.of(this.method), this.timers,
			new StoreClock(this.time::nanoTime));

	@Test
	void rateFiresAtThePeriodAfterThePlannedTime() {
		periodic(RATE);
		this.answer = granted(this.time.server());
		this.time.pass(Duration.ofMillis(700));
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:02"));
		this.answer = (call) -> granted(Instant.parse("2026-03-01T12:00:02Z")).accept(call);
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:04"));
		assertThat(this.firings).extracting(JobFiring::schedule).containsOnly(RATE);
		assertThat(this.firings).extracting(JobFiring::id).doesNotHaveDuplicates();
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void rateStaysOnItsPeriodsWithoutAnAnswer() {
		periodic(RATE);
		this.answer = refused(Reason.NOT_DUE, at("12:00:01.500"));
		this.timers.tick();
		this.answer = (call) -> {
		};
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:03.500"));
		this.time.pass(Duration.ofSeconds(10));
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:13.500"));
		assertThat(this.firings).hasSize(3);
	}

	@Test
	void rateIsCaughtUpOnceAfterALongRun() {
		periodic(RATE);
		this.answer = (call) -> {
			granted(this.time.server()).accept(call);
			this.time.pass(Duration.ofSeconds(9));
		};
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:09"));
		this.answer = granted(at("12:00:08"));
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:10"));
	}

	@Test
	void delayFiresAtTheDelayAfterItsOwnCompletion() {
		periodic(DELAY);
		this.answer = (call) -> {
			granted(this.time.server()).accept(call);
			this.time.pass(Duration.ofSeconds(5));
		};
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:07"));
	}

	@Test
	void delayFiresWhenAnotherInstancesRunIsDue() {
		periodic(DELAY);
		this.answer = refused(Reason.NOT_DUE, at("12:00:01.250"));
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:01.250"));
	}

	@Test
	void firingThatIsDueWhileTheJobRunsIsLeftToTheNextPeriod() {
		periodic(RATE);
		this.answer = refused(Reason.RUNNING, this.time.server().minusSeconds(1));
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:02"));
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void firingThatIsDueByThisClockOnlyIsNotRequestedAtOnce() {
		periodic(RATE);
		this.answer = refused(Reason.NOT_DUE, this.time.server());
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:00.100"));
	}

	@Test
	void wrongClockOfTheInstanceIsTranslated() {
		this.time.set(Duration.ofMinutes(-10));
		periodic(RATE);
		this.answer = refused(Reason.NOT_DUE, at("12:00:01"));
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("11:50:01"));
	}

	@Test
	void clockThatIsAheadDelaysNothing() {
		this.time.set(Duration.ofMinutes(10));
		periodic(RATE);
		this.answer = refused(Reason.NOT_DUE, at("12:00:01"));
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:10:01"));
		this.answer = (call) -> {
		};
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:10:03"));
	}

	@Test
	void threadPerFiringStaysOnItsPeriods() {
		this.timers.threadPerFiring = true;
		periodic(RATE);
		this.answer = granted(at("12:00:00"));
		this.timers.tick();
		this.answer = granted(at("12:00:02"));
		this.timers.tick();
		this.answer = granted(at("12:00:04"));
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:06"));
		assertThat(this.timers.pending).isEmpty();
		assertThat(this.firings).hasSize(3);
	}

	@Test
	void answerThatComesTooLateForTheTriggerIsFollowed() {
		this.timers.threadPerFiring = true;
		periodic(RATE);
		this.answer = refused(Reason.NOT_DUE, at("12:00:00.500"));
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:02"));
		assertThat(this.timers.pending).extracting(Timer::at).containsExactly(at("12:00:00.500"));
		this.answer = granted(at("12:00:00.500"));
		this.timers.fire();
		this.timers.tick();
		assertThat(this.firings).as("the tick at 12:00:02 is not due").hasSize(2);
		assertThat(this.timers.next).isEqualTo(at("12:00:02.500"));
		this.answer = (call) -> {
		};
		this.timers.tick();
		this.timers.fire();
		assertThat(this.firings).as("not once more after the tick at 12:00:02.500").hasSize(3);
	}

	@Test
	void answerThatComesAfterTheReturnIsFollowed() {
		periodic(RATE);
		List<BoundCall> calls = new ArrayList<>();
		this.answer = calls::add;
		this.timers.tick();
		assertThat(this.timers.pending).isEmpty();
		refused(Reason.DONE, at("12:00:01")).accept(calls.get(0));
		assertThat(this.timers.pending).extracting(Timer::at).containsExactly(at("12:00:01"));
	}

	@Test
	void triggerContinuesWhereFollowUpsAreRejected() {
		this.timers.threadPerFiring = true;
		periodic(RATE);
		this.answer = refused(Reason.DONE, at("12:00:01"));
		this.timers.rejects = true;
		this.timers.tick();
		this.timers.tick();
		assertThat(this.firings).hasSize(2);
	}

	@Test
	void followUpThatIsEarlyByACorrectedClockIsFiredWhenItIsDue() {
		this.timers.threadPerFiring = true;
		periodic(RATE);
		this.answer = refused(Reason.NOT_DUE, at("12:00:00.500"));
		this.timers.tick();
		this.time.pass(Duration.ofMillis(400));
		this.task.learn(at("12:00:00.200"), this.time.nanoTime());
		this.timers.fire();
		assertThat(this.firings).hasSize(1);
		assertThat(this.timers.pending).hasSize(1);
		this.timers.fire();
		assertThat(this.firings).hasSize(2);
		assertThat(this.time.instant()).isBetween(at("12:00:00.690"), at("12:00:00.700"));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void retryThatIsEarlyByACorrectedClockIsNotLostForAPeriod(boolean threadPerFiring) {
		periodic(new Schedule.FixedRate(Duration.ofHours(1)));
		this.answer = failed();
		this.timers.tick();
		this.time.passUntil(this.timers.next);
		if (threadPerFiring) {
			this.timers.plan();
			correctClock();
			this.timers.task.run();
		}
		else {
			correctClock();
			this.timers.task.run();
			// The trigger takes a firing within 2 ms for one in time
			this.time.pass(Duration.ofMillis(3));
			this.timers.plan();
		}
		assertThat(this.firings).hasSize(1);
		assertThat(this.timers.next).isAfter(at("12:30:00"));
		this.timers.fire();
		assertThat(this.firings).extracting(JobFiring::id).hasSize(2).containsOnly(this.firings.get(0).id());
		assertThat(this.timers.next).isAfter(at("12:30:00"));
	}

	private void correctClock() {
		this.task.learn(this.time.server().minusMillis(5), this.time.nanoTime());
	}

	@Test
	void cancelledTaskDoesNotFireAgain() {
		this.timers.threadPerFiring = true;
		periodic(RATE);
		this.answer = refused(Reason.DONE, at("12:00:01"));
		this.timers.tick();
		this.timers.future.cancel(false);
		this.timers.fire();
		assertThat(this.firings).hasSize(1);
	}

	@Test
	void nothingIsPendingOnceTheContextIsClosed() {
		this.timers.threadPerFiring = true;
		periodic(RATE);
		this.answer = refused(Reason.DONE, at("12:00:01"));
		this.timers.tick();
		Timer followUp = this.timers.pending.get(0);
		this.task.close();
		assertThat(this.timers.future.isCancelled()).isTrue();
		assertThat(followUp.future().isCancelled()).isTrue();
		this.timers.pending.clear();
		this.timers.tick();
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void runThatMayCrashIsCheckedWhenItsLeaseCouldHaveEnded() {
		this.rerun = true;
		Runnable firing = planned(at("12:00:00"));
		this.answer = running(at("12:00:00"), Duration.ofSeconds(30));
		firing.run();
		assertThat(this.timers.pending).extracting(Timer::at).containsExactly(at("12:00:30"));
		this.answer = (call) -> {
		};
		this.timers.fire();
		assertThat(this.firings.get(1).schedule()).isEqualTo(new Schedule.Planned(at("12:00:00")));
		assertThat(this.firings.get(1).id()).isNotEqualTo(this.firings.get(0).id());
	}

	@Test
	void runThatIsNotRepeatedIsNotChecked() {
		Runnable firing = planned(at("12:00:00"));
		this.answer = running(at("12:00:00"), Duration.ofSeconds(30));
		firing.run();
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void ownPlannedTimeFollowsARepeatedRun() {
		this.rerun = true;
		Runnable firing = planned(at("12:00:00"));
		this.answer = granted(at("11:00:00"));
		firing.run();
		this.answer = granted(at("12:00:00"));
		this.timers.fire();
		assertThat(this.firings).extracting(JobFiring::schedule).containsOnly(new Schedule.Planned(at("12:00:00")));
		assertThat(this.firings).extracting(JobFiring::id).doesNotHaveDuplicates().hasSize(2);
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void plannedTimeIsOpenUntilThereIsAnAnswer() {
		periodic(RATE);
		this.timers.tick();
		assertThat(this.task.plan().openSince()).isEqualTo(at("12:00:00"));
		this.answer = refused(Reason.DONE, at("12:00:04"));
		this.timers.tick();
		assertThat(this.task.plan().openSince()).isEqualTo(at("12:00:04"));
		JobInfo.Schedule schedule = this.task.plan().schedule();
		assertThat(schedule).isEqualTo(new JobInfo.Schedule("fixed rate 2s", at("12:00:04")));
	}

	@Test
	void plannedTimeThatIsStillDueIsOpen() {
		Runnable firing = planned(at("12:00:00"));
		this.answer = failed();
		firing.run();
		assertThat(this.task.plan().openSince()).isEqualTo(at("12:00:00"));
		this.answer = overlapped(at("11:00:00"), Duration.ofMinutes(1));
		this.timers.fire();
		assertThat(this.task.plan().openSince()).isEqualTo(at("12:00:00"));
		this.answer = granted(at("12:00:00"));
		this.timers.fire();
		assertThat(this.task.plan().openSince()).isNull();
	}

	@Test
	void moveFromAnotherInstanceIsLoggedAtDebug(CapturedOutput output) {
		moveBackAndForth();
		assertThat(output).doesNotContain("moved");
		Logger logger = (Logger) LoggerFactory.getLogger(JobMethod.class);
		logger.setLevel(Level.DEBUG);
		try {
			moveBackAndForth();
		}
		finally {
			logger.setLevel(null);
		}
		assertThat(output).containsPattern(
				"DEBUG.*The job 'job' moved to this instance \\(another\\); its last known run was by host-2");
	}

	private void moveBackAndForth() {
		JobRun own = JobEngine.run(NAME, at("12:00:00"), at("12:00:00"));
		JobRun other = new JobRun(NAME, at("11:00:00"), 1, at("11:00:00"), null, null, "host-2", 1, null);
		this.method.lastRunBy(own, true);
		this.method.lastRunBy(other, false);
		this.method.lastRunBy(own, true);
	}

	@Test
	void unreachableServerIsAskedAgainForTheSameFiring(CapturedOutput output) {
		Runnable firing = planned(at("12:00:00"));
		this.answer = failed();
		firing.run();
		for (int i = 0; i < 6; i++) {
			assertThat(this.timers.pending).hasSize(1);
			Duration pause = Duration.between(this.time.instant(), this.timers.pending.get(0).at());
			Duration longest = Duration.ofMillis(Math.min(5000, 250 << i));
			assertThat(pause).isBetween(longest.dividedBy(2), longest);
			this.timers.fire();
		}
		this.answer = granted(at("12:00:00"));
		this.timers.fire();
		assertThat(this.timers.pending).isEmpty();
		assertThat(this.firings).extracting(JobFiring::id).hasSize(8).containsOnly(this.firings.get(0).id());
		assertThat(output)
			.containsOnlyOnce("The request to the MongoDB server for the lock of the job 'job' failed. This instance"
					+ " retries until there is an answer. away")
			.doesNotContain("missed");
	}

	@Test
	void laterAttemptsKeepTheThreadForAShorterTime() {
		Runnable firing = planned(at("12:00:00"));
		this.answer = (call) -> assertThat(call.failed(new DataAccessResourceFailureException("away"))).isTrue();
		firing.run();
		this.timers.fire();
		this.timers.fire();
		assertThat(this.firings).extracting(JobFiring::answerWithin)
			.containsExactly(null, Duration.ofMillis(1250), Duration.ofMillis(1250));
	}

	@Test
	void serverThatIsSlowIsGivenTheTimeToAnswer() {
		Runnable firing = planned(at("12:00:00"));
		Duration slow = Duration.ofMillis(2600);
		this.answer = failed();
		firing.run();
		this.answer = (call) -> {
			JobFiring asked = this.firings.get(this.firings.size() - 1);
			if (asked.answerWithin() != null && asked.answerWithin().compareTo(slow) < 0) {
				failed().accept(call);
			}
			else if (this.firings.size() == 4) {
				somethingElse(Duration.ofMinutes(1)).accept(call);
			}
			else {
				granted(at("12:00:00")).accept(call);
			}
		};
		for (int i = 0; i < 4; i++) {
			this.timers.fire();
		}
		assertThat(this.firings).extracting(JobFiring::answerWithin)
			.containsExactly(null, Duration.ofMillis(1250), Duration.ofMillis(2500), Duration.ofSeconds(5),
					Duration.ofSeconds(5));
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void nextOutageIsLoggedAgain(CapturedOutput output) {
		Runnable firing = planned(at("12:00:00"));
		this.answer = failed();
		firing.run();
		this.answer = somethingElse(Duration.ofMinutes(1));
		this.timers.fire();
		this.answer = failed();
		this.timers.fire();
		assertThat(output.toString().split("The request to the MongoDB server for the lock")).hasSize(3);
	}

	@Test
	void lockHeldByOtherWorkIsRequestedAgainByAnotherFiring() {
		Runnable firing = planned(at("12:00:00"));
		this.answer = somethingElse(Duration.ofMinutes(1));
		firing.run();
		this.timers.fire();
		assertThat(this.repeated).containsExactly(false, true);
		assertThat(this.settled).as("what is logged at DEBUG").containsExactly(false, true);
		this.answer = refused(Reason.DONE, null);
		this.timers.fire();
		assertThat(this.timers.pending).isEmpty();
		assertThat(this.firings).extracting(JobFiring::schedule).containsOnly(new Schedule.Planned(at("12:00:00")));
		assertThat(this.firings).extracting(JobFiring::id).doesNotHaveDuplicates();
	}

	@Test
	void lockIsAskedForWhenItsLeaseCouldHaveEnded() {
		Runnable firing = planned(at("12:00:00"));
		this.answer = somethingElse(Duration.ofMinutes(1));
		firing.run();
		for (int i = 0; i < 5; i++) {
			this.timers.fire();
		}
		this.answer = somethingElse(Duration.ofMillis(700));
		this.timers.fire();
		assertThat(this.timers.pending).extracting(Timer::at).containsExactly(this.time.instant().plusMillis(700));
	}

	@Test
	void doubtOutlastsTheRefusalThatItCauses() {
		Runnable firing = planned(at("12:00:00"));
		this.answer = failed();
		firing.run();
		this.answer = somethingElse(Duration.ofMinutes(1));
		this.timers.fire();
		this.timers.fire();
		assertThat(this.firings).extracting(JobFiring::id).hasSize(3).containsOnly(this.firings.get(0).id());
	}

	@Test
	void failureAfterAGrantIsThatOfTheCaller() {
		planned(at("12:00:00"));
		this.answer = (call) -> {
			granted(at("12:00:00")).accept(call);
			assertThat(call.failed(new QueryTimeoutException("away"))).isFalse();
		};
		this.timers.task.run();
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void nextPlannedTimeTakesOver(CapturedOutput output) {
		Instant[] planned = { at("12:00:00") };
		this.task.byTrigger((context) -> planned[0]);
		this.answer = failed();
		this.timers.task.run();
		Timer followUp = this.timers.pending.get(0);
		planned[0] = at("12:00:10");
		this.timers.plan();
		this.time.pass(Duration.ofSeconds(10));
		this.answer = granted(at("12:00:10"));
		this.timers.task.run();
		assertThat(followUp.future().isCancelled()).isTrue();
		followUp.task().run();
		assertThat(this.firings).extracting(JobFiring::schedule)
			.containsExactly(new Schedule.Planned(at("12:00:00")), new Schedule.Planned(at("12:00:10")));
		assertThat(output).as("the record settles it").doesNotContain("missed");
		assertThat(this.givenUp).isEmpty();
	}

	@Test
	void plannedTimeOfAnotherScheduleTakesOver(CapturedOutput output) {
		Timers others = new Timers();
		Runnable first = planned(at("12:00:00"));
		another(others).byTrigger((context) -> at("12:00:10"));
		this.answer = failed();
		first.run();
		this.time.pass(Duration.ofSeconds(10));
		this.answer = granted(at("12:00:10"));
		others.task.run();
		this.timers.fire();
		assertThat(planned()).containsExactly(at("12:00:00"), at("12:00:10"));
		assertThat(output).doesNotContain("missed");
	}

	private JobTask another(Timers timers) {
		return new JobTask(this::run, Set.of(this.method), timers, new StoreClock(this.time::nanoTime));
	}

	@Test
	void answerThatTheNextPlannedTimeOvertookIsNotFollowed(CapturedOutput output) {
		Instant[] planned = { at("12:00:00") };
		this.task.byTrigger((context) -> planned[0]);
		List<BoundCall> calls = new ArrayList<>();
		this.answer = calls::add;
		this.timers.task.run();
		planned[0] = at("12:00:10");
		this.timers.plan();
		this.time.pass(Duration.ofSeconds(10));
		this.timers.task.run();
		failed().accept(calls.get(0));
		somethingElse(Duration.ofSeconds(1)).accept(calls.get(1));
		assertThat(output).doesNotContain("missed");
		assertThat(this.timers.pending).hasSize(1);
		this.timers.fire();
		assertThat(this.firings.get(2).schedule()).isEqualTo(new Schedule.Planned(at("12:00:10")));
	}

	@Test
	void plannedTimeThatAnotherLockTookIsSkippedForTheNextOne(CapturedOutput output) {
		Instant[] planned = { at("12:00:00") };
		this.task.byTrigger((context) -> planned[0]);
		this.answer = somethingElse(Duration.ofMinutes(1));
		this.timers.task.run();
		planned[0] = at("12:00:10");
		this.timers.plan();
		this.time.pass(Duration.ofSeconds(10));
		this.timers.task.run();
		assertThat(output).doesNotContain("missed");
		assertThat(this.givenUp).isEmpty();
	}

	@Test
	void plannedTimeIsRecordedAsMissedOnceItCannotStartAnyMore(CapturedOutput output) {
		Runnable firing = planned(at("12:00:00"));
		Instant tooLate = at("12:00:00").plus(START_WITHIN);
		Consumer<BoundCall> held = somethingElse(Duration.ofHours(1));
		this.answer = (call) -> (this.time.server().isAfter(tooLate) ? refused(Reason.TOO_LATE, null) : held)
			.accept(call);
		this.expired = (planned) -> Optional.of(recorded(null, missed(planned, null)));
		firing.run();
		while (!this.timers.pending.isEmpty()) {
			assertThat(output).doesNotContain("missed");
			this.timers.fire();
		}
		assertThat(this.time.instant()).isEqualTo(tooLate.plusMillis(1));
		assertThat(this.firings).extracting(JobFiring::startWithin).containsOnly(START_WITHIN);
		assertThat(output).containsOnlyOnce("The job 'job' missed its planned time 2026-03-01T12:00:00Z:");
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
	}

	@Test
	void plannedTimeThatAnotherInstanceRecordedAsMissedIsNotReported(CapturedOutput output) {
		Runnable firing = planned(at("12:00:00"));
		this.answer = refused(Reason.TOO_LATE, null);
		firing.run();
		assertThat(output).doesNotContain("missed");
		assertThat(this.givenUp).isEmpty();
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void recordOfAMissedPlannedTimeIsRetried(CapturedOutput output) {
		Runnable firing = planned(at("12:00:00"));
		this.answer = refused(Reason.TOO_LATE, null);
		this.expired = (planned) -> {
			throw new QueryTimeoutException("away");
		};
		firing.run();
		assertThat(this.timers.pending).hasSize(1);
		this.expired = (planned) -> Optional.of(recorded(null, missed(planned, null)));
		this.timers.fire();
		assertThat(this.timers.pending).isEmpty();
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
		assertThat(output).containsOnlyOnce("ERROR");
	}

	@Test
	void runReportsThePlannedTimesThatItSettles(CapturedOutput output) {
		JobRun before = ended(at("11:00:00"), at("11:45:00"), null);
		knownCron("0 */20 * * * *");
		JobRun run = after(at("12:20:00"), at("11:00:00"));
		this.status = () -> Optional.of(recorded(null, run, before));
		grantNext(run);
		assertThat(output)
			.containsOnlyOnce("The job 'job' skipped 2 planned times, from 2026-03-01T11:20:00Z to"
					+ " 2026-03-01T11:40:00Z: the run for 2026-03-01T11:00:00Z was in progress on another until"
					+ " 2026-03-01T11:45:00Z")
			.containsOnlyOnce("The job 'job' missed its planned time 2026-03-01T12:00:00Z: no instance was up");
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
	}

	@Test
	void plannedTimesOfAPauseAreSkipped(CapturedOutput output) {
		knownCron("0 */20 * * * *");
		JobRun run = after(at("12:20:00"), at("11:40:00"));
		this.status = () -> Optional.of(recorded(at("12:01:00"), run, ended(at("11:40:00"), at("11:41:00"), null)));
		grantNext(run);
		assertThat(output).containsOnlyOnce(
				"skipped its planned time 2026-03-01T12:00:00Z: the job was paused until 2026-03-01T12:01:00Z");
		assertThat(this.givenUp).isEmpty();
	}

	@Test
	void plannedTimesBeforeAPauseAreMissed(CapturedOutput output) {
		knownCron("0 */20 * * * *");
		JobRun run = after(at("12:20:00"), at("11:00:00"));
		this.status = () -> Optional.of(new JobStatus(NAME, List.of(run, ended(at("11:00:00"), at("11:01:00"), null)),
				false, null, at("11:30:00"), at("12:10:00"), null, at("12:20:00")));
		grantNext(run);
		assertThat(output)
			.containsOnlyOnce("skipped 2 planned times, from 2026-03-01T11:40:00Z to 2026-03-01T12:00:00Z");
		assertThat(this.givenUp).containsExactly(at("11:20:00"));
	}

	@Test
	void nothingIsMissedByTheNextPlannedTimeOrByARepetitionOrAnotherSchedule(CapturedOutput output) {
		knownCron("0 */20 * * * *");
		this.status = () -> {
			throw new AssertionError("nothing to look up");
		};
		for (JobRun run : List.of(after(at("12:20:00"), at("12:00:00")), after(at("12:20:00"), at("11:10:00")),
				new JobRun(NAME, at("12:20:00"), 2, at("12:20:00"), null, null, "another", 1, null, at("11:00:00"),
						null))) {
			this.answer = grantedRun(run);
			this.task.fire(new Schedule.Planned(at("12:20:00")));
		}
		JobRun changed = after(at("12:40:00"), at("11:40:00"));
		this.status = () -> Optional
			.of(recorded(null, changed, ended(at("11:40:00"), at("11:41:00"), "cron 0 */10 * * * * in Z")));
		this.answer = grantedRun(changed);
		this.task.fire(new Schedule.Planned(at("12:40:00")));
		assertThat(output).doesNotContain("missed its").doesNotContain("skipped").containsOnlyOnce("has changed from");
		assertThat(this.givenUp).isEmpty();
	}

	@Test
	void plannedTimesWithoutTheLockAreNotMissed(CapturedOutput output) {
		knownCron("0 */20 * * * *");
		this.answer = BoundCall::unlocked;
		this.timers.tick();
		this.timers.tick();
		JobRun run = after(at("13:00:00"), at("12:00:00"));
		this.status = Optional::empty;
		grantNext(run);
		assertThat(output).containsOnlyOnce("skipped 2 planned times, from 2026-03-01T12:20:00Z to"
				+ " 2026-03-01T12:40:00Z: the condition of its lock was false until 2026-03-01T12:40:00Z");
		assertThat(this.givenUp).isEmpty();
	}

	@Test
	void triggerOfTheApplicationIsAskedOnlyByTheScheduler(CapturedOutput output) {
		this.task.tasks(() -> List.of(this.task));
		Iterator<String> times = List.of("12:00:01", "12:00:02", "12:00:03", "12:00:04", "12:00:05").iterator();
		this.task.byTrigger((context) -> at(times.next()));
		this.answer = failed();
		this.timers.tick();
		this.timers.tick();
		this.status = Optional::empty;
		JobRun run = new JobRun(NAME, at("12:00:03"), 1, at("12:00:03"), null, null, "this", 2, null, at("12:00:01"),
				null);
		grantNext(run);
		assertThat(this.givenUp).containsExactly(at("12:00:02"));
		assertThat(times.next()).as("not asked for more than the next one").isEqualTo("12:00:05");
		assertThat(this.firings).extracting(JobFiring::plan).containsOnlyNulls();
		assertThat(output).doesNotContain("has changed");
	}

	@Test
	void plannedTimesBeforeTheFirstRunAreMissed() {
		knownCron("0 */20 * * * *");
		this.answer = failed();
		this.timers.tick();
		this.timers.tick();
		JobRun run = new JobRun(NAME, at("13:00:00"), 1, at("13:00:00"), null, null, "this", 2, null);
		this.status = () -> Optional.of(recorded(null, run));
		grantNext(run);
		assertThat(this.givenUp).containsExactly(at("12:20:00"), at("12:40:00"));
	}

	@Test
	void plannedTimesBeforeTheFirstRunCountFromTheStartByTheClockOfTheServer() {
		this.time.set(Duration.ofHours(-1));
		knownCron("0 */20 * * * *");
		JobRun run = new JobRun(NAME, at("12:20:00"), 1, at("12:20:00"), null, null, "this", 2, null);
		this.status = () -> Optional.of(recorded(null, run));
		grantNext(run);
		assertThat(this.time.server()).isEqualTo(at("12:20:00"));
		assertThat(this.givenUp).isEmpty();
	}

	@Test
	void plannedTimesBeforeARunThatNeverBeganHereAreMissed(CapturedOutput output) {
		requestFails();
		JobRun lost = own(at("12:20:00"), JobRun.Outcome.CRASHED);
		grantNextAfter(lost);
		grantNext(after(at("13:00:00"), at("12:40:00")));
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
		assertThat(output).containsOnlyOnce("missed its planned time 2026-03-01T12:00:00Z: the requests of this"
				+ " instance to the MongoDB server failed: away");
	}

	@Test
	void plannedTimesBeforeAGrantThatWasNotUsedAreMissedAlsoIfTheNextRequestIsRefused(CapturedOutput output) {
		knownCron("0 */20 * * * *");
		this.answer = (call) -> {
			this.firings.get(0).inDoubt(new QueryTimeoutException("too late"));
			running(at("12:20:00"), Duration.ofSeconds(1)).accept(call);
		};
		this.timers.tick();
		JobRun lost = own(at("12:20:00"), JobRun.Outcome.CRASHED);
		grantNextAfter(lost);
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
		assertThat(output).containsOnlyOnce("missed its planned time 2026-03-01T12:00:00Z: the requests of this"
				+ " instance to the MongoDB server failed: too late");
	}

	@Test
	void requestThatFailsAfterThePlannedTimeWasFoundInTheRecordIsNoDoubt() {
		requestFails();
		JobRun lost = own(at("12:20:00"), JobRun.Outcome.CRASHED);
		grantNextAfter(lost);
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
		this.firings.get(0).inDoubt(new QueryTimeoutException("a retry"));
		grantNext(after(at("13:00:00"), at("12:40:00")));
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
	}

	@Test
	void runOfAnEarlierProcessWithTheSameNameIsNotReportedAgain() {
		requestFails();
		JobRun earlier = new JobRun(NAME, at("12:20:00"), 1, at("11:00:00"), null, JobRun.Outcome.CRASHED,
				this.engine.acquirer(), 2, null, at("11:40:00"), null);
		grantNextAfter(earlier);
		assertThat(this.givenUp).isEmpty();
	}

	@Test
	void plannedTimeThatTheRecordDoesNotShowCanStillBegin() {
		requestFails();
		this.status = () -> Optional.of(recorded(null, settled()));
		this.answer = refused(Reason.OTHER_ID, null);
		this.task.fire(new Schedule.Planned(at("12:40:00")));
		JobRun begun = after(at("12:20:00"), at("11:40:00"));
		this.status = () -> Optional.of(recorded(null, begun, settled()));
		this.answer = grantedRun(begun);
		this.task.fire(new Schedule.Planned(at("12:20:00")));
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
	}

	@Test
	void refusalAfterAGrantThatWasNotUsedIsFollowedByTheSameFiring() {
		knownCron("0 */20 * * * *");
		this.answer = (call) -> {
			this.firings.get(0).inDoubt(new QueryTimeoutException("too late"));
			somethingElse(Duration.ofSeconds(1)).accept(call);
		};
		this.timers.tick();
		this.answer = refused(Reason.DONE, null);
		this.timers.fire();
		assertThat(this.firings).extracting(JobFiring::id).hasSize(2).containsOnly(this.firings.get(0).id());
	}

	@ParameterizedTest
	@EnumSource(names = { "CRASHED", "ABANDONED" })
	void runThatNeverBeganHereIsNotReportedAsLongAsItIsTheLastOne(JobRun.Outcome outcome) {
		requestFails();
		JobRun lost = own(at("12:20:00"), outcome);
		this.status = () -> Optional.of(recorded(null, lost, settled()));
		this.answer = refused(Reason.RUNNING, null);
		this.timers.tick();
		assertThat(this.givenUp).as("it can still be granted again").isEmpty();
		this.status = () -> Optional.of(recorded(null, after(at("12:40:00"), at("12:20:00")), lost, settled()));
		this.timers.tick();
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
	}

	@Test
	void runThatBeganAfterADoubtReportsOnlyOnce() {
		requestFails();
		JobRun begun = after(at("12:20:00"), at("11:40:00"));
		this.status = () -> Optional.of(recorded(null, begun, settled()));
		this.answer = grantedRun(begun);
		this.timers.fire();
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
		this.status = () -> Optional.of(recorded(null, own(at("12:20:00"), JobRun.Outcome.CRASHED)));
		grantNext(after(at("12:40:00"), at("12:20:00")));
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
	}

	@Test
	void runThatNeverBeganHereIsReportedOnceAnotherIdIsLater() {
		requestFails();
		this.status = () -> Optional.of(recorded(null, own(at("12:20:00"), JobRun.Outcome.CRASHED), settled()));
		this.answer = refused(Reason.OTHER_ID, null);
		this.timers.fire();
		assertThat(this.givenUp).as("it can still be granted again").isEmpty();
		this.timers.tick();
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
	}

	@Test
	void plannedTimesAfterARunUnderAnotherIdAreSkipped(CapturedOutput output) {
		knownCron("0 */20 * * * *");
		JobRun run = after(at("12:20:00"), at("11:40:00"));
		this.status = () -> Optional.of(recorded(null, run));
		grantNext(run);
		assertThat(this.givenUp).isEmpty();
		assertThat(output).containsOnlyOnce("skipped its planned time 2026-03-01T12:00:00Z: until 2026-03-01T11:40:00Z,"
				+ " another version of the application had another id for it");
	}

	@Test
	void requestThatFailsAfterTheSamePlannedTimeHasBegunIsNoDoubt() {
		knownCron("0 */20 * * * *");
		JobRun begun = after(at("12:20:00"), at("12:00:00"));
		this.answer = grantedRun(begun);
		this.timers.tick();
		this.answer = failed();
		this.task.fire(new Schedule.Planned(at("12:20:00")));
		this.status = () -> {
			throw new AssertionError("no doubt");
		};
		grantNext(after(at("12:40:00"), at("12:20:00")));
	}

	@Test
	void runOfAnotherTaskAfterADoubtReportsOnlyOnce() {
		requestFails();
		JobTask beside = new JobTask(this::run, Set.of(this.method), this.timers, new StoreClock(this.time::nanoTime));
		JobRun begun = after(at("12:20:00"), at("11:40:00"));
		this.status = () -> Optional.of(recorded(null, own(at("12:20:00"), JobRun.Outcome.CRASHED)));
		this.answer = refused(Reason.DONE, null);
		beside.fire(new Schedule.Planned(at("12:20:00")));
		assertThat(this.givenUp).isEmpty();
		this.status = () -> Optional.of(recorded(null, begun, settled()));
		this.answer = grantedRun(begun);
		this.timers.fire();
		assertThat(this.givenUp).containsExactly(at("12:00:00"));
	}

	@Test
	void doubtThatTheRecordDoesNotShowAnyMoreIsLogged(CapturedOutput output) {
		requestFails();
		this.status = () -> Optional.of(recorded(null, after(at("13:00:00"), at("12:40:00"))));
		grantNext(after(at("12:40:00"), at("12:20:00")));
		grantNext(after(at("13:00:00"), at("12:40:00")));
		assertThat(this.givenUp).isEmpty();
		assertThat(output).containsOnlyOnce("until 2026-03-01T12:20:00Z were granted is no longer recorded");
	}

	@Test
	void doubtBeforeTheFirstEntryIsNoneSinceNothingWasGranted(CapturedOutput output) {
		requestFails();
		JobRun first = new JobRun(NAME, at("12:40:00"), 1, at("12:40:00"), null, null, "this", 2, null);
		this.status = () -> Optional.of(recorded(null, first));
		grantNext(first);
		assertThat(this.givenUp).containsExactly(at("12:20:00"));
		assertThat(output).doesNotContain("no longer recorded");
	}

	@Test
	void runsOfOthersAfterADoubtAreLeftToThem() {
		requestFails();
		JobRun other = new JobRun(NAME, at("12:20:00"), 1, at("12:20:00"), null, JobRun.Outcome.CRASHED, "another", 1,
				null, at("11:40:00"), null);
		this.status = () -> Optional.of(recorded(null, after(at("12:40:00"), at("12:20:00")), other));
		grantNext(after(at("12:40:00"), at("12:20:00")));
		assertThat(this.givenUp).isEmpty();
		this.status = () -> {
			throw new AssertionError("no doubt is left");
		};
		grantNext(after(at("13:00:00"), at("12:40:00")));
	}

	private JobRun settled() {
		return new JobRun(NAME, at("11:40:00"), 1, at("11:40:00"), at("11:40:01"), JobRun.Outcome.SUCCEEDED, "this", 1,
				null);
	}

	private JobRun own(Instant planned, JobRun.@Nullable Outcome outcome) {
		return new JobRun(NAME, planned, 1, planned, null, outcome, this.engine.acquirer(), 1, null, at("11:40:00"),
				null);
	}

	@Test
	void accountThatFailsDoesNotFailTheRun(CapturedOutput output) {
		knownCron("0 */20 * * * *");
		this.status = () -> {
			throw new IllegalStateException("broken");
		};
		this.answer = grantedRun(after(at("12:20:00"), at("11:00:00")));
		this.timers.tick();
		assertThat(this.firings).hasSize(1);
		assertThat(output).containsOnlyOnce("could not be reported");
	}

	@Test
	void planOfAClockThatIsAheadIsCorrectedAtTheStart() {
		this.time.set(Duration.ofHours(3));
		cron("0 */20 * * * *");
		this.status = status(at("12:00:00"), JobRun.Outcome.SUCCEEDED);
		lookBack();
		this.timers.fire();
		assertThat(planned()).containsExactly(at("12:20:00"));
	}

	@Test
	void outageIsTheReasonOfWhatIsMissedInIt(CapturedOutput output) {
		requestFails();
		JobRun run = after(at("12:40:00"), at("12:00:00"));
		this.status = Optional::empty;
		grantNext(run);
		assertThat(output).containsOnlyOnce("missed its planned time 2026-03-01T12:20:00Z: the requests of this"
				+ " instance to the MongoDB server failed: away");
	}

	@Test
	void manyMissedPlannedTimesAreReportedInOneLine(CapturedOutput output) {
		knownCron("* * * * * *");
		JobRun run = after(at("12:05:01"), at("11:00:00"));
		this.status = () -> Optional.of(recorded(null, run, ended(at("11:00:00"), at("11:00:00"), null)));
		grantNext(run);
		assertThat(output).containsOnlyOnce("missed 1,000 planned times and earlier ones, from 2026-03-01T11:48:21Z to"
				+ " 2026-03-01T12:05:00Z: no instance was up");
		assertThat(this.givenUp).hasSize(1000);
	}

	@Test
	void theLatestPlannedTimeThatFallsIntoARunStartsRightAfterIt() {
		this.task.byTrigger(new CronTrigger("0 * * * * *", ZoneOffset.UTC));
		this.answer = (call) -> {
			granted(this.time.server()).accept(call);
			this.time.pass(Duration.ofSeconds(150));
		};
		this.timers.tick();
		assertThat(planned()).containsExactly(at("12:01:00"));
		assertThat(this.timers.next).isEqualTo(at("12:03:30"));
		this.answer = (call) -> granted(this.time.server()).accept(call);
		this.timers.tick();
		assertThat(planned()).containsExactly(at("12:01:00"), at("12:03:00"));
		assertThat(this.timers.next).isEqualTo(at("12:04:00"));
	}

	@Test
	void aFiringThatIsLateRequestsTheLatestPlannedTime() {
		this.task.byTrigger(new CronTrigger("0 * * * * *", ZoneOffset.UTC));
		this.answer = refused(Reason.DONE, null);
		this.time.pass(Duration.ofSeconds(200));
		this.timers.task.run();
		assertThat(planned()).containsExactly(at("12:03:00"));
		this.timers.plan();
		assertThat(this.timers.next).isEqualTo(at("12:04:00"));
	}

	private static JobRun after(Instant planned, Instant after) {
		return new JobRun(NAME, planned, 1, planned, null, null, "this", 2, null, after, "cron 0 */20 * * * * in Z");
	}

	private static JobRun missed(Instant planned, @Nullable Instant after) {
		return new JobRun(NAME, planned, 0, planned, planned, JobRun.Outcome.MISSED, "this", 1, null, after, null);
	}

	private static JobRun ended(Instant planned, Instant ended, @Nullable String plan) {
		return new JobRun(NAME, planned, 1, planned, ended, JobRun.Outcome.SUCCEEDED, "another", 1, null, null, plan);
	}

	private void knownCron(String expression) {
		this.task.tasks(() -> List.of(this.task));
		cron(expression);
	}

	/** The answer to the request for 12:20 is lost. */
	private void requestFails() {
		knownCron("0 */20 * * * *");
		this.answer = failed();
		this.timers.tick();
	}

	/** The record shows a run for 12:20 before that for 12:40, which begins. */
	private void grantNextAfter(JobRun earlier) {
		JobRun next = after(at("12:40:00"), at("12:20:00"));
		this.status = () -> Optional.of(recorded(null, next, earlier, settled()));
		grantNext(next);
	}

	private void grantNext(JobRun run) {
		this.answer = grantedRun(run);
		this.timers.tick();
	}

	private static Consumer<BoundCall> grantedRun(JobRun run) {
		return (call) -> call.granted(run);
	}

	@Test
	void plannedTimeOutlastsAnEarlierRun() {
		Runnable firing = planned(at("12:00:00"));
		this.answer = overlapped(at("11:00:00"), Duration.ofMinutes(1));
		firing.run();
		this.timers.fire();
		this.answer = granted(at("12:00:00"));
		this.timers.fire();
		assertThat(this.firings).hasSize(3)
			.extracting(JobFiring::schedule)
			.containsOnly(new Schedule.Planned(at("12:00:00")));
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void periodIsNotLostToAnOutage() {
		Schedule hourly = new Schedule.FixedRate(Duration.ofHours(1));
		periodic(hourly);
		this.answer = failed();
		this.timers.tick();
		assertThat(this.timers.next).isBetween(this.time.instant().plusMillis(125),
				this.time.instant().plusMillis(250));
		this.timers.tick();
		assertThat(this.timers.next).isBetween(this.time.instant().plusMillis(250),
				this.time.instant().plusMillis(500));
		this.answer = (call) -> granted(this.time.server()).accept(call);
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(this.time.instant().plus(Duration.ofHours(1)));
		assertThat(this.firings).extracting(JobFiring::id).hasSize(3).containsOnly(this.firings.get(0).id());
		this.timers.tick();
		assertThat(this.firings.get(3).id()).isNotEqualTo(this.firings.get(0).id());
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void shortPeriodIsNoLongerThanWithoutAnOutage() {
		periodic(new Schedule.FixedDelay(Duration.ofMillis(110)));
		this.answer = failed();
		for (int i = 0; i < 5; i++) {
			this.timers.tick();
			assertThat(this.timers.next).isEqualTo(this.time.instant().plusMillis(110));
		}
	}

	@Test
	void threadPerFiringDoesNotAskTwiceForWhatIsStillDue() {
		this.timers.threadPerFiring = true;
		periodic(RATE);
		this.answer = failed();
		this.timers.tick();
		assertThat(this.timers.pending).hasSize(1);
		Timer followUp = this.timers.pending.get(0);
		this.timers.tick();
		assertThat(this.firings).extracting(JobFiring::id).hasSize(2).containsOnly(this.firings.get(0).id());
		followUp.task().run();
		assertThat(this.firings).hasSize(2);
	}

	@Test
	void asynchronousFailureIsFollowed() {
		Runnable firing = planned(at("12:00:00"));
		List<BoundCall> calls = new ArrayList<>();
		this.answer = calls::add;
		firing.run();
		assertThat(this.timers.pending).isEmpty();
		failed().accept(calls.get(0));
		assertThat(this.timers.pending).hasSize(1);
	}

	@Test
	void nothingStaysDueOnceTheContextIsClosed(CapturedOutput output) {
		Runnable firing = planned(at("12:00:00"));
		this.answer = failed();
		firing.run();
		Timer followUp = this.timers.pending.remove(0);
		this.task.close();
		assertThat(followUp.future().isCancelled()).isTrue();
		followUp.task().run();
		firing.run();
		assertThat(this.firings).hasSize(2);
		assertThat(this.timers.pending).isEmpty();
		assertThat(output).doesNotContain("missed");
	}

	@Test
	void plannedTimeThatIsNotDueIsFiredAgainByTheTrigger() {
		this.time.set(Duration.ofMinutes(10));
		this.task.byTrigger(new CronTrigger("0 0 * * * *", ZoneOffset.UTC));
		this.answer = refused(Reason.NOT_DUE, at("13:00:00"));
		this.timers.tick();
		assertThat(this.timers.pending).isEmpty();
		assertThat(this.timers.next).isEqualTo(at("13:10:00"));
		this.answer = (call) -> granted(at("13:00:00")).accept(call);
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("14:10:00"));
		assertThat(planned()).containsExactly(at("13:00:00"), at("13:00:00"));
	}

	@Test
	void plannedTimeThatIsDueByTheTimeOfALateAnswerIsFiredAgain() {
		this.task.byTrigger(new CronTrigger("0 0 * * * *", ZoneOffset.UTC));
		this.answer = (call) -> {
			Instant behind = this.time.server().minusMillis(300);
			this.time.pass(Duration.ofMillis(400));
			call.refused(JobEngine.refused(NAME, Reason.NOT_DUE, null, null, behind));
		};
		// An answer before that, so that the clock of the server is known
		this.task.learn(this.time.server(), this.time.nanoTime());
		this.timers.tick();
		this.answer = granted(at("13:00:00"));
		this.timers.tick();
		assertThat(planned()).containsExactly(at("13:00:00"), at("13:00:00"));
		assertThat(this.timers.next).isAfter(at("13:59:00"));
	}

	@Test
	void plannedTimeThatIsNotDueIsFiredAgainAfterTheTriggerHasGoneOn() {
		this.timers.threadPerFiring = true;
		this.time.set(Duration.ofMinutes(10));
		this.task.byTrigger(new CronTrigger("0 0 * * * *", ZoneOffset.UTC));
		this.answer = refused(Reason.NOT_DUE, null);
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("14:00:00"));
		assertThat(this.timers.pending).extracting(Timer::at).containsExactly(at("13:10:00"));
		assertThat(this.task.plan().openSince()).isEqualTo(at("13:00:00"));
		this.answer = failed();
		this.timers.fire();
		assertThat(this.time.server()).isEqualTo(at("13:00:00"));
		assertThat(this.timers.pending).as("a late start").hasSize(1);
		this.answer = granted(at("13:00:00"));
		this.timers.fire();
		assertThat(planned()).containsExactly(at("13:00:00"), at("13:00:00"), at("13:00:00"));
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void plannedTimesThatACorrectedClockPlansComeFirst() {
		this.timers.threadPerFiring = true;
		this.time.set(Duration.ofMinutes(190));
		this.task.byTrigger(new CronTrigger("0 0 * * * *", ZoneOffset.UTC));
		this.answer = refused(Reason.NOT_DUE, null);
		this.timers.tick();
		assertThat(this.time.server()).isEqualTo(at("12:50:00"));
		assertThat(this.timers.pending).extracting(Timer::at).containsExactly(at("16:10:00"));
		this.answer = granted(at("13:00:00"));
		this.timers.fire();
		assertThat(this.time.server()).isEqualTo(at("13:00:00"));
		this.answer = refused(Reason.NOT_DUE, null);
		this.timers.tick();
		assertThat(this.timers.pending).as("the trigger has planned it by now").isEmpty();
		assertThat(this.timers.next).isEqualTo(at("17:10:00"));
		assertThat(this.task.plan().openSince()).isEqualTo(at("14:00:00"));
		assertThat(planned()).containsExactly(at("16:00:00"), at("13:00:00"), at("17:00:00"));
	}

	@Test
	void customTriggerIsAskedForWhatWasNotDue() {
		this.timers.threadPerFiring = true;
		Instant[] planned = { at("12:00:01.000500") };
		this.task.byTrigger((context) -> planned[0]);
		planned[0] = at("12:00:05");
		this.time.pass(Duration.ofMillis(200));
		this.answer = refused(Reason.NOT_DUE, null);
		this.timers.tick();
		assertThat(planned()).containsExactly(at("12:00:01"));
		assertThat(this.timers.pending).hasSize(1);
	}

	@Test
	void lastPlannedTimeOfATriggerIsFiredAgainIfItWasNotDue() {
		this.timers.threadPerFiring = true;
		Iterator<Instant> planned = List.of(at("12:00:01")).iterator();
		this.task.byTrigger((context) -> planned.hasNext() ? planned.next() : null);
		this.time.pass(Duration.ofMillis(700));
		this.answer = (call) -> call
			.refused(JobEngine.refused(NAME, Reason.NOT_DUE, null, null, this.time.server().minusMillis(300)));
		this.timers.tick();
		assertThat(this.timers.next).isNull();
		assertThat(this.timers.pending).hasSize(1);
		this.answer = granted(at("12:00:01"));
		this.timers.fire();
		assertThat(planned()).containsExactly(at("12:00:01"), at("12:00:01"));
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void lookThatAServerBehindRefusesIsMadeAgain() {
		this.rerun = true;
		Runnable firing = planned(at("12:00:00"));
		this.answer = running(at("12:00:00"), Duration.ofSeconds(5));
		firing.run();
		this.answer = (call) -> call
			.refused(JobEngine.refused(NAME, Reason.NOT_DUE, null, null, this.time.server().minusSeconds(10)));
		this.timers.fire();
		assertThat(this.timers.pending).hasSize(1);
		this.answer = granted(at("12:00:00"));
		this.timers.fire();
		assertThat(planned()).containsOnly(at("12:00:00")).hasSize(3);
	}

	@Test
	void lookAtACrashedRunDoesNotWaitForTheLock() {
		this.rerun = true;
		Runnable firing = planned(at("12:00:00"));
		this.answer = running(at("12:00:00"), Duration.ofSeconds(30));
		firing.run();
		this.answer = somethingElse(Duration.ofSeconds(20));
		this.timers.fire();
		assertThat(this.repeated).containsExactly(true);
		assertThat(this.settled).containsExactly(true);
	}

	@Test
	void laterAttemptsKeepTheNameOfTheLock() {
		Runnable firing = planned(at("12:00:00"));
		List<String> names = new ArrayList<>();
		List<String> evaluated = new ArrayList<>(List.of("report-1", "report-2"));
		this.answer = (call) -> {
			names.add(call.name("lock", () -> evaluated.remove(0)));
			failed().accept(call);
		};
		firing.run();
		this.timers.fire();
		assertThat(names).containsExactly("report-1", "report-1");
	}

	@Test
	void runOfAnotherScheduleIsLoggedOnceByWhatIsRefused(CapturedOutput output) {
		this.task.byTrigger(new CronTrigger("0 0 * * * *", ZoneOffset.UTC));
		this.answer = (call) -> call.refused(JobEngine.refused(NAME, Reason.DONE, null,
				JobEngine.run(NAME, at("13:30:00"), at("13:30:00")), this.time.server()));
		this.timers.tick();
		assertThat(output).doesNotContain("schedule");
		this.task.tasks(() -> List.of(this.task));
		this.task.call(JobRequest.first(new Schedule.Planned(at("13:00:00"))));
		this.task.call(JobRequest.first(new Schedule.Planned(at("13:00:00"))));
		assertThat(output).containsOnlyOnce("The job 'job' was run by another for the planned time"
				+ " 2026-03-01T13:30:00Z by another schedule, but this instance has 'cron 0 0 * * * * in Z'");
		this.time.pass(Duration.ofHours(1));
		this.answer = (call) -> call
			.refused(JobEngine.refused(NAME, Reason.DONE, null, new JobRun(NAME, at("14:30:00"), 1, at("14:30:00"),
					null, null, "another", 1, null, null, "cron 0 0 * * * * in Europe/Berlin"), this.time.server()));
		this.task.call(JobRequest.first(new Schedule.Planned(at("14:00:00"))));
		assertThat(output).containsOnlyOnce("by the schedule 'cron 0 0 * * * * in Europe/Berlin'");
	}

	@Test
	void runUnderAnotherIdIsLoggedOnceAndFinal(CapturedOutput output) {
		this.task.byTrigger(new CronTrigger("0 0 * * * *", ZoneOffset.UTC));
		this.answer = refused(Reason.OTHER_ID, null);
		this.timers.tick();
		this.task.call(JobRequest.first(new Schedule.Planned(at("13:00:00"))));
		assertThat(output)
			.containsOnlyOnce("Planned times of the job 'job' are run, or recorded as missed, under another id");
		assertThat(this.timers.pending).as("retries").isEmpty();
		this.time.pass(Duration.ofHours(1));
		this.task.call(JobRequest.first(new Schedule.Planned(at("14:00:00"))));
		assertThat(output.toString().split("under another id", -1)).hasSize(3);
	}

	@Test
	void plannedTimeOfAWrongClockTakesOverFromNothing(CapturedOutput output) {
		this.time.set(Duration.ofHours(3));
		this.task.byTrigger(new CronTrigger("0 * * * * *", ZoneOffset.UTC));
		this.answer = refused(Reason.NOT_DUE, null);
		this.timers.tick();
		this.answer = failed();
		this.timers.tick();
		assertThat(output).doesNotContain("missed");
		assertThat(this.timers.pending).as("a late start").hasSize(1);
		Instant late = this.time.server();
		this.answer = granted(late);
		this.timers.tick();
		assertThat(this.givenUp).isEmpty();
	}

	@Test
	void crashedRunIsCheckedAfterAFiringOfAWrongClock() {
		this.rerun = true;
		this.time.set(Duration.ofHours(3));
		this.task.byTrigger(new CronTrigger("0 0 * * * *", ZoneOffset.UTC));
		this.answer = refused(Reason.NOT_DUE, null);
		this.timers.tick();
		this.status = status(at("11:00:00"), JobRun.Outcome.CRASHED);
		LookBack.begin(this.method, List.of(this.task));
		this.timers.fire();
		assertThat(planned()).containsExactly(at("16:00:00"), at("11:00:00"));
	}

	@Test
	void crashedRunIsCheckedAtStartup() {
		this.rerun = true;
		planned(at("12:00:00"));
		this.status = status(at("11:00:00"), JobRun.Outcome.CRASHED);
		lookBack();
		assertThat(this.firings).extracting(JobFiring::schedule).containsOnly(new Schedule.Planned(at("11:00:00")));
	}

	@Test
	void plannedTimeBeforeTheStartIsRecordedAsMissedOnceItIsTooLate(CapturedOutput output) {
		cron("0 */20 * * * *");
		this.status = status(at("11:20:00"), JobRun.Outcome.SUCCEEDED);
		this.expired = (planned) -> Optional
			.of(recorded(null, missed(planned, at("11:20:00")), ended(at("11:20:00"), at("11:21:00"), null)));
		this.task.tasks(() -> List.of(this.task));
		lookBack();
		assertThat(this.firings).isEmpty();
		assertThat(this.timers.pending).extracting(Timer::at).containsExactly(at("12:10:00.101"));
		this.timers.fire();
		assertThat(this.firings).isEmpty();
		assertThat(this.givenUp).containsExactly(at("11:40:00"), at("12:00:00"));
		assertThat(output).containsOnlyOnce("The job 'job' missed 2 planned times, from 2026-03-01T11:40:00Z to");
	}

	@Test
	void plannedTimeBeforeTheStartIsRecordedAsMissedOnceTheRunBeforeItHasEnded(CapturedOutput output) {
		cron("0 */20 * * * *");
		this.status = status(at("11:20:00"), null);
		lookBack();
		this.timers.fire();
		assertThat(this.timers.pending).extracting(Timer::at).containsExactly(at("12:11:00.101"));
		this.expired = (planned) -> Optional
			.of(recorded(null, missed(planned, at("11:20:00")), ended(at("11:20:00"), at("12:10:30"), null)));
		this.task.tasks(() -> List.of(this.task));
		this.timers.fire();
		assertThat(this.timers.pending).isEmpty();
		assertThat(output).containsOnlyOnce("The job 'job' skipped 2 planned times, from 2026-03-01T11:40:00Z to"
				+ " 2026-03-01T12:00:00Z: the run for 2026-03-01T11:20:00Z was in progress");
	}

	@Test
	void plannedTimeBeforeTheStartThatIsRefusedAsEarlyIsRequestedAFewTimes() {
		cron("0 */20 * * * *");
		this.status = status(at("11:20:00"), JobRun.Outcome.SUCCEEDED);
		lookBack();
		this.timers.fire();
		this.timers.fire();
		assertThat(this.timers.pending).extracting(Timer::at).containsExactly(at("12:12:00.101"));
		this.timers.fire();
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void plannedTimeBeforeTheStartThatAnotherInstanceRecordsAsMissedIsNotRequestedAgain() {
		cron("0 */20 * * * *");
		this.status = status(at("11:20:00"), JobRun.Outcome.SUCCEEDED);
		lookBack();
		this.status = status(at("12:00:00"), JobRun.Outcome.MISSED);
		this.timers.fire();
		assertThat(this.timers.pending).isEmpty();
		assertThat(this.givenUp).isEmpty();
	}

	@Test
	void missedPlannedTimeBeforeTheStartDoesNotDelayTheShutdown() {
		cron("0 */20 * * * *");
		this.status = status(at("11:20:00"), JobRun.Outcome.SUCCEEDED);
		lookBack();
		Timer timer = this.timers.pending.get(0);
		this.task.close();
		assertThat(timer.future().isCancelled()).isTrue();
	}

	@Test
	void plannedTimeBeforeTheStartIsLeftToTheFiringThatComesFirst() {
		cron("0 */20 * * * *");
		this.status = status(at("11:20:00"), JobRun.Outcome.SUCCEEDED);
		this.expired = (planned) -> {
			throw new AssertionError();
		};
		lookBack();
		this.task.fire(new Schedule.Planned(at("12:00:00")));
		this.timers.fire();
		assertThat(planned()).containsExactly(at("12:00:00"));
	}

	@Test
	void startAsksNothingOnceThePlannedTimeHasCome() {
		this.rerun = true;
		Runnable firing = planned(at("12:00:00"));
		this.status = status(at("11:00:00"), JobRun.Outcome.CRASHED);
		LookBack.begin(this.method, List.of(this.task));
		firing.run();
		this.timers.fire();
		assertThat(this.firings).hasSize(1);
	}

	@Test
	void startAsksAgainForARecordThatCannotBeRead(CapturedOutput output) {
		this.rerun = true;
		planned(at("12:00:00"));
		this.status = () -> {
			throw new QueryTimeoutException("away");
		};
		LookBack.begin(this.method, List.of(this.task));
		this.timers.fire();
		this.timers.fire();
		this.status = status(at("11:00:00"), null);
		this.timers.fire();
		assertThat(this.firings).extracting(JobFiring::answerWithin).containsExactly(Duration.ofMillis(1250));
		assertThat(this.limits).containsExactly(Duration.ofMillis(1250), Duration.ofMillis(2500),
				Duration.ofSeconds(5));
		assertThat(output).containsOnlyOnce("The request to the MongoDB server");
	}

	@ParameterizedTest
	@EnumSource(names = { "SUCCEEDED", "FAILED" })
	void runThatEndedIsNotRepeatedAtTheStart(JobRun.Outcome outcome) {
		this.rerun = true;
		planned(at("12:00:00"));
		this.status = status(at("11:00:00"), outcome);
		lookBack();
		assertThat(this.firings).isEmpty();
	}

	@Test
	void latestMissedPlannedTimeIsRunAtTheStart() {
		assertThat(missed("11:20:00", "0 */20 * * * *")).containsExactly(at("12:00:00"));
	}

	@Test
	void missedPlannedTimeStaysDue() {
		this.answer = failed();
		assertThat(missed("11:20:00", "0 */20 * * * *")).containsExactly(at("12:00:00"));
		this.timers.fire();
		assertThat(this.firings).extracting(JobFiring::id).hasSize(2).containsOnly(this.firings.get(0).id());
	}

	@Test
	void missedPlannedTimeIsNotRunTooLate() {
		this.time.pass(START_WITHIN);
		assertThat(missed("11:20:00", "0 */20 * * * *")).isEmpty();
	}

	@Test
	void lastPlannedTimeThatWasRunIsNotMissed() {
		assertThat(missed("12:00:00", "0 */20 * * * *")).isEmpty();
	}

	@Test
	void plannedTimeOfARunThatNeverBeganIsMissed() {
		this.runMissed = true;
		cron("0 */20 * * * *");
		this.status = status(at("12:00:00"), JobRun.Outcome.ABANDONED);
		lookBack();
		assertThat(this.firings).extracting(JobFiring::schedule).containsOnly(new Schedule.Planned(at("12:00:00")));
	}

	@Test
	void changedScheduleMissesNothing() {
		assertThat(missed("11:10:00", "0 */20 * * * *")).isEmpty();
	}

	@ParameterizedTest
	@ValueSource(longs = { 10, -10 })
	void missedPlannedTimeIsThatOfTheServersClock(long minutes) {
		this.time.set(Duration.ofMinutes(minutes));
		assertThat(missed("11:59:00", "0 * * * * *")).containsExactly(at("12:05:00"));
	}

	@Test
	void missedPlannedTimeFollowsTheRunOfAnotherSchedule() {
		this.runMissed = true;
		cron("0 0 12 * * *");
		JobTask other = another(new Timers());
		other.byTrigger(new CronTrigger("0 0 11 * * *", ZoneOffset.UTC));
		JobTask otherJob = new JobTask(this::run, Set.of(), new Timers(), new StoreClock(this.time::nanoTime));
		otherJob.byTrigger(new CronTrigger("0 30 11 * * *", ZoneOffset.UTC));
		List<JobTask> all = List.of(this.task, other, otherJob);
		this.status = status(at("11:30:00"), JobRun.Outcome.SUCCEEDED);
		LookBack.begin(this.method, all);
		this.timers.fire();
		assertThat(planned()).as("the run of a schedule that was changed").isEmpty();
		this.status = status(at("11:00:00"), JobRun.Outcome.ABANDONED);
		LookBack.begin(this.method, all);
		this.timers.fire();
		assertThat(planned()).containsExactly(at("12:00:00"));
	}

	@Test
	void onlyTheLatestMissedPlannedTimeOfAllSchedulesIsRun() {
		this.runMissed = true;
		cron("0 */20 * * * *");
		Timers others = new Timers();
		JobTask other = another(others);
		other.byTrigger(new CronTrigger("0 2/20 * * * *", ZoneOffset.UTC));
		this.status = status(at("11:40:00"), JobRun.Outcome.SUCCEEDED);
		LookBack.begin(this.method, List.of(this.task, other));
		this.timers.fire();
		assertThat(planned()).containsExactly(at("12:02:00"));
		assertThat(this.timers.pending).isEmpty();
		assertThat(others.pending).isEmpty();
	}

	@Test
	void recordOfOneOfSeveralMethodsIsNotChecked() {
		this.rerun = true;
		JobMethod another = new JobMethod("another", JobTaskTests.class, "run", this::declaration);
		JobTask task = new JobTask(this::run, Set.of(this.method, another), this.timers,
				new StoreClock(this.time::nanoTime));
		task.byTrigger(new CronTrigger("0 0 * * * *", ZoneOffset.UTC));
		LookBack.begin(this.method, List.of(task));
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void firstDeploymentMissesNothing() {
		this.runMissed = true;
		cron("0 */20 * * * *");
		lookBack();
		assertThat(this.firings).isEmpty();
	}

	@Test
	void jobWithoutARunMissesNothing() {
		this.runMissed = true;
		cron("0 */20 * * * *");
		this.status = () -> Optional.of(recorded(null));
		lookBack();
		assertThat(this.firings).isEmpty();
	}

	@Test
	void pausedJobMissesNothing() {
		this.runMissed = true;
		cron("0 */20 * * * *");
		JobRun last = JobEngine.run(NAME, at("11:20:00"), at("11:20:00"));
		this.status = () -> Optional
			.of(new JobStatus(NAME, List.of(last), true, "someone", at("11:30:00"), null, null, at("12:05:00")));
		lookBack();
		assertThat(this.firings).isEmpty();
	}

	@Test
	void plannedTimeOfAPauseIsNotMissed() {
		this.runMissed = true;
		cron("0 */20 * * * *");
		JobRun last = JobEngine.run(NAME, at("11:20:00"), at("11:20:00"));
		this.status = () -> Optional.of(recorded(at("12:01:00"), last));
		lookBack();
		assertThat(this.firings).isEmpty();
	}

	private List<Instant> missed(String last, String cron) {
		this.runMissed = true;
		cron(cron);
		this.status = status(at(last), JobRun.Outcome.SUCCEEDED);
		lookBack();
		return planned();
	}

	/**
	 * The planned times that were asked for, in order.
	 */
	private List<Instant> planned() {
		return this.firings.stream().map((firing) -> ((Schedule.Planned) firing.schedule()).at()).toList();
	}

	private void cron(String expression) {
		this.time.pass(Duration.ofMinutes(5));
		this.task.byTrigger(new CronTrigger(expression, ZoneOffset.UTC));
	}

	private void lookBack() {
		LookBack.begin(this.method, List.of(this.task));
		assertThat(this.timers.pending).extracting(Timer::at).containsExactly(this.time.instant());
		this.timers.fire();
	}

	private Supplier<Optional<JobStatus>> status(Instant planned, JobRun.@Nullable Outcome outcome) {
		JobRun last = new JobRun(NAME, planned, 1, planned, null, outcome, "another", 1, null);
		return () -> Optional.of(recorded(null, last));
	}

	private JobStatus recorded(@Nullable Instant resumedAt, JobRun... runs) {
		return new JobStatus(NAME, List.of(runs), false, null, null, resumedAt, null, this.time.server());
	}

	private static Instant at(String time) {
		return Instant.parse("2026-03-01T" + time + "Z");
	}

	private void periodic(Schedule schedule) {
		this.task.periodic(schedule, this.time.instant());
		assertThat(this.timers.next).isEqualTo(this.time.instant());
	}

	private Runnable planned(Instant planned) {
		this.task.byTrigger((context) -> planned);
		return this.timers.task;
	}

	private Consumer<BoundCall> granted(Instant planned) {
		return (call) -> call
			.granted(JobRun.of(((LockEngine.Granted) JobEngine.granted(NAME, planned, this.time.server())).handle())
				.orElseThrow());
	}

	private Consumer<BoundCall> failed() {
		return (call) -> assertThat(call.failed(new QueryTimeoutException("away"))).isTrue();
	}

	private Consumer<BoundCall> somethingElse(Duration left) {
		return (call) -> {
			this.repeated.add(this.firings.get(this.firings.size() - 1).answerWithin() != null);
			this.settled.add(call.refused(new LockRefusal(NAME, holder(this.time.server(), left), Duration.ZERO)));
		};
	}

	private Consumer<BoundCall> overlapped(Instant planned, Duration left) {
		return (call) -> call
			.refused(new LockRefusal(NAME, holder(planned, left), Duration.ZERO, null, new JobRefusal(Reason.OVERLAPPED,
					null, JobEngine.run(NAME, planned, planned), null, this.time.server())));
	}

	private static LockInfo holder(Instant since, Duration left) {
		return new LockInfo(NAME, true, "id", "another", "main", "why", 1, since, since, since.plus(left), null, left);
	}

	private Consumer<BoundCall> refused(Reason reason, @Nullable Instant nextDue) {
		return (call) -> call.refused(JobEngine.refused(NAME, reason, nextDue, null, this.time.server()));
	}

	private Consumer<BoundCall> running(Instant planned, Duration left) {
		return (call) -> call.refused(new LockRefusal(NAME, holder(planned, left), Duration.ZERO, null,
				new JobRefusal(Reason.RUNNING, null, JobEngine.run(NAME, planned, planned), null, this.time.server())));
	}

	private JobMethod.Declaration declaration() {
		return new JobMethod.Declaration(null, NAME, NAME, this.engine, this.rerun, this.runMissed, START_WITHIN, null,
				null, null, WhenClockChanges.AS_PLANNED, null, 0, 1);
	}

	private void run() {
		BoundCall call = BoundCall.take(this.method);
		assertThat(call).isNotNull();
		assertThat(BoundCall.take(this.method)).isNull();
		JobMethod.Declaration declaration = declaration();
		JobFiring firing = call.firing(declaration);
		assertThat(call.firing(declaration)).isSameAs(firing);
		this.firings.add(firing);
		this.answer.accept(call);
	}

	private record Timer(Runnable task, Instant at, Future future) {
	}

	private final class Timers implements TaskScheduler {

		private final List<Timer> pending = new ArrayList<>();

		private final Future future = new Future();

		private @Nullable Runnable task;

		private @Nullable Trigger trigger;

		private @Nullable Instant next;

		private boolean rejects;

		private boolean threadPerFiring;

		/**
		 * Let the time pass until the next firing, and fire. A scheduler with a thread
		 * for each firing asks for the next one at once, others ask after it.
		 */
		void tick() {
			Duration wait = Duration.between(JobTaskTests.this.time.instant(), this.next);
			if (!wait.isNegative()) {
				JobTaskTests.this.time.pass(wait);
			}
			if (this.threadPerFiring) {
				plan();
				this.task.run();
			}
			else {
				this.task.run();
				plan();
			}
		}

		private void plan() {
			this.next = this.trigger.nextExecution(new SimpleTriggerContext(getClock()));
		}

		void fire() {
			Timer first = this.pending.remove(0);
			if (first.at().isAfter(JobTaskTests.this.time.instant())) {
				JobTaskTests.this.time.pass(Duration.between(JobTaskTests.this.time.instant(), first.at()));
			}
			first.task().run();
		}

		@Override
		public Clock getClock() {
			return JobTaskTests.this.time;
		}

		@Override
		public ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
			this.task = task;
			this.trigger = trigger;
			plan();
			return this.future;
		}

		@Override
		public ScheduledFuture<?> schedule(Runnable task, Instant startTime) {
			if (this.rejects) {
				throw new TaskRejectedException("The scheduler is full");
			}
			Future future = new Future();
			this.pending.add(new Timer(task, startTime, future));
			return future;
		}

		@Override
		public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Instant startTime, Duration period) {
			throw new UnsupportedOperationException();
		}

		@Override
		public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Duration period) {
			throw new UnsupportedOperationException();
		}

		@Override
		public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Instant startTime, Duration delay) {
			throw new UnsupportedOperationException();
		}

		@Override
		public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Duration delay) {
			throw new UnsupportedOperationException();
		}

	}

	private static final class Future extends CompletableFuture<Void> implements ScheduledFuture<Void> {

		@Override
		public long getDelay(TimeUnit unit) {
			return 0;
		}

		@Override
		public int compareTo(Delayed other) {
			return 0;
		}

	}

}
