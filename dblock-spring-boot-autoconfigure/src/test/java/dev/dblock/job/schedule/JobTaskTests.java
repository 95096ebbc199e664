package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import dev.dblock.LockGrant;
import dev.dblock.LockInfo;
import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.support.SimpleTriggerContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * When a task fires again after the answers to its firings.
 */
class JobTaskTests {

	private static final String NAME = "job";

	private static final Duration PERIOD = Duration.ofSeconds(2);

	private static final Schedule RATE = new Schedule.FixedRate(PERIOD);

	private static final Schedule DELAY = new Schedule.FixedDelay(PERIOD);

	private final MovedClock time = new MovedClock("2026-03-01T12:00:00Z");

	private final Timers timers = new Timers();

	private final List<JobFiring> firings = new ArrayList<>();

	private Consumer<ScheduledCall> answer = (call) -> {
	};

	private boolean rerun;

	private final JobMethod method = new JobMethod("bean", JobTaskTests.class, "run", () -> {
		throw new IllegalStateException();
	});

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
	void delayFiresAtTheDelayAfterItsOwnEnd() {
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
	void whatIsDueWhileTheJobRunsIsLeftToTheNextPeriod() {
		periodic(RATE);
		this.answer = refused(Reason.RUNNING, this.time.server().minusSeconds(1));
		this.timers.tick();
		assertThat(this.timers.next).isEqualTo(at("12:00:02"));
		assertThat(this.timers.pending).isEmpty();
	}

	@Test
	void whatOnlyThisClockTakesForDueIsNotAskedForAtOnce() {
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
	}

	@Test
	void answerThatComesAfterTheReturnIsFollowed() {
		periodic(RATE);
		List<ScheduledCall> calls = new ArrayList<>();
		this.answer = calls::add;
		this.timers.tick();
		assertThat(this.timers.pending).isEmpty();
		refused(Reason.DONE, at("12:00:01")).accept(calls.get(0));
		assertThat(this.timers.pending).extracting(Timer::at).containsExactly(at("12:00:01"));
	}

	@Test
	void triggerGoesOnWhereFollowUpsAreRejected() {
		this.timers.threadPerFiring = true;
		periodic(RATE);
		this.answer = refused(Reason.DONE, at("12:00:01"));
		this.timers.rejects = true;
		this.timers.tick();
		this.timers.tick();
		assertThat(this.firings).hasSize(2);
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
	void runThatMayCrashIsLookedAtWhenItsLeaseCouldHaveEnded() {
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
	void runThatIsNotRepeatedIsNotLookedAt() {
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

	private Consumer<ScheduledCall> granted(Instant planned) {
		return (call) -> call
			.granted(((LockGrant) JobEngine.granted(NAME, planned, this.time.server())).handle().run().orElseThrow());
	}

	private Consumer<ScheduledCall> refused(Reason reason, Instant nextDue) {
		return (call) -> call.refused((LockRefusal) JobEngine.refused(NAME, reason, nextDue, null, this.time.server()));
	}

	private Consumer<ScheduledCall> running(Instant planned, Duration left) {
		LockInfo holder = new LockInfo(NAME, true, "id", "another", "main", "why", 1, planned, planned,
				planned.plus(left), null, left);
		return (call) -> call.refused(new LockRefusal(NAME, holder, Duration.ZERO, null,
				new JobRefusal(Reason.RUNNING, null, JobEngine.run(NAME, planned, planned), null, this.time.server())));
	}

	private void run() {
		ScheduledCall call = ScheduledCall.take(this.method);
		assertThat(call).isNotNull();
		assertThat(ScheduledCall.take(this.method)).isNull();
		JobFiring firing = call.firing(null, this.rerun);
		assertThat(call.firing(null, this.rerun)).isSameAs(firing);
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
