package dev.dblock.job.trigger;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.TriggerContext;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.SimpleTriggerContext;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class JobTriggerTests {

	private final MovedClock own = new MovedClock("2026-03-01T12:00:00.500Z");

	private final StoreClock clock = new StoreClock(this.own::nanoTime);

	private final SimpleTriggerContext context = new SimpleTriggerContext(this.own);

	private final JobTrigger trigger = new JobTrigger(new CronTrigger("* * * * * *", ZoneOffset.UTC), this.clock);

	@ParameterizedTest
	@ValueSource(longs = { 0, 10, -10, 600, -600 })
	void plansTheServersInstants(long minutes) {
		this.own.set(Duration.ofMinutes(minutes));
		this.clock.learn(this.own.server(), this.own.nanoTime(), this.own);
		assertFires("2026-03-01T12:00:01Z");
		assertFires("2026-03-01T12:00:02Z");
		assertFires("2026-03-01T12:00:03Z");
	}

	@Test
	void fewPlannedTimesAreAllKnownOnAMachineThatIsBusy() {
		AtomicLong nanos = new AtomicLong();
		JobTrigger busy = new JobTrigger(new CronTrigger("* * * * * *", ZoneOffset.UTC),
				new StoreClock(() -> nanos.addAndGet(Duration.ofSeconds(1).toNanos())));
		Instant noon = Instant.parse("2026-03-01T12:00:00Z");
		assertThat(busy.between(noon, noon.plusSeconds(61), this.own)).satisfies((minute) -> {
			assertThat(minute.times()).hasSize(60).startsWith(noon.plusSeconds(1)).endsWith(noon.plusSeconds(60));
			assertThat(minute.more()).isFalse();
		});
		assertThat(busy.between(noon, noon.plusSeconds(901), this.own)).satisfies((minutes) -> {
			assertThat(minutes.times()).hasSizeBetween(100, 250).endsWith(noon.plusSeconds(900));
			assertThat(minutes.more()).isTrue();
		});
	}

	@Test
	void aMachineThatIsBusyKnowsTheLatestPlannedTimesAlsoAcrossAPause() {
		AtomicLong nanos = new AtomicLong();
		JobTrigger busy = new JobTrigger(new CronTrigger("0 * 9-17 * * MON-FRI", ZoneOffset.UTC),
				new StoreClock(() -> nanos.addAndGet(Duration.ofSeconds(1).toNanos())));
		Instant monday = Instant.parse("2026-03-09T09:03:00Z");
		assertThat(busy.between(Instant.parse("2026-03-06T17:00:00Z"), monday, this.own)).satisfies((both) -> {
			assertThat(both.times()).hasSize(62).endsWith(monday.minusSeconds(60));
			assertThat(both.more()).isFalse();
		});
	}

	/**
	 * Seconds of several days, most of which are not among the latest thousand.
	 */
	@ParameterizedTest
	@CsvSource({ "2026-03-09T09:00:00Z, 2026-03-06T17:43:20Z", "2026-03-09T09:00:01Z, 2026-03-06T17:43:21Z",
			"2026-03-09T09:00:02Z, 2026-03-06T17:43:22Z" })
	void ofManyPlannedTimesBeforeAPauseOnlyTheLatestAreComputed(Instant before, Instant first) {
		AtomicInteger asked = new AtomicInteger();
		CronTrigger counting = new CronTrigger("* * 9-17 * * MON-FRI", ZoneOffset.UTC) {

			@Override
			public Instant nextExecution(TriggerContext context) {
				asked.incrementAndGet();
				return super.nextExecution(context);
			}

		};
		PlannedTimes between = new JobTrigger(counting, this.clock).between(Instant.parse("2026-03-04T12:00:00Z"),
				before, this.own);
		assertThat(between.times()).hasSize(1000).startsWith(first);
		assertThat(between.more()).isTrue();
		assertThat(asked).hasValueLessThan(3000);
	}

	@ParameterizedTest
	@CsvSource({
			// From Friday evening to Monday morning
			"0 * 9-17 * * MON-FRI, 2026-03-06T17:59:00Z, 2026-03-09T09:01:00Z, 1, 2026-03-09T09:00:00Z, false",
			"*/30 * 8-18 * * *, 2026-03-06T18:29:30Z, 2026-03-07T08:20:30Z, 101, 2026-03-06T18:30:00Z, false",
			"*/30 * 8-18 * * *, 2026-03-06T18:29:30Z, 2026-03-07T08:00:00Z, 60, 2026-03-06T18:30:00Z, false",
			"*/30 * 8-18 * * *, 2026-03-05T18:29:30Z, 2026-03-07T08:00:00Z, 1000, 2026-03-06T10:40:00Z, true",
			"0 0 3 * * *, 2025-03-05T03:00:00Z, 2026-03-05T03:00:00Z, 364, 2025-03-06T03:00:00Z, false" })
	void pausesOfAnExpressionAreNoPlannedTimes(String cron, Instant after, Instant before, int count, Instant first,
			boolean more) {
		PlannedTimes between = new JobTrigger(new CronTrigger(cron, ZoneOffset.UTC), this.clock).between(after, before,
				this.own);
		assertThat(between.times()).hasSize(count).startsWith(first);
		assertThat(between.more()).isEqualTo(more);
	}

	@Test
	void clockThatIsSetChangesNothing() {
		this.clock.learn(this.own.server(), this.own.nanoTime(), this.own);
		assertFires("2026-03-01T12:00:01Z");
		this.own.set(Duration.ofHours(-1));
		assertFires("2026-03-01T12:00:02Z");
		this.own.set(Duration.ofHours(2));
		assertFires("2026-03-01T12:00:03Z");
	}

	@Test
	void clockThatIsAheadCostsOneFiring() {
		this.own.set(Duration.ofMinutes(10));
		assertThat(fire()).isEqualTo("2026-03-01T12:10:01Z");
		this.clock.learn(this.own.server(), this.own.nanoTime(), this.own);
		assertFires("2026-03-01T12:00:02Z");
		assertFires("2026-03-01T12:00:03Z");
	}

	@Test
	void clockThatIsBehindAtTheStartIsNoFaultOfACronExpression(CapturedOutput output) {
		this.own.set(Duration.ofSeconds(-12));
		CronTrigger cron = new CronTrigger("* * * * * *", ZoneOffset.UTC) {

			@Override
			public @Nullable Instant nextExecution(TriggerContext context) {
				Instant planned = super.nextExecution(context);
				// The answer to another request arrives
				JobTriggerTests.this.clock.learn(JobTriggerTests.this.own.server(), JobTriggerTests.this.own.nanoTime(),
						JobTriggerTests.this.own);
				return planned;
			}

		};
		assertThat(new JobTrigger(cron, this.clock).nextExecution(this.context)).isNotNull();
		assertThat(output).doesNotContain("must plan by TriggerContext.getClock()");
	}

	@Test
	void firingThatWasNotDueIsPlannedAgain() {
		this.own.set(Duration.ofMillis(1200));
		// Due at 12:00:02 by the server, but fired at 12:00:00.800
		assertThat(fire()).isEqualTo("2026-03-01T12:00:02Z");
		this.clock.learn(this.own.server(), this.own.nanoTime(), this.own);
		assertFires("2026-03-01T12:00:01Z");
		assertFires("2026-03-01T12:00:02Z");
		assertFires("2026-03-01T12:00:03Z");
	}

	@Test
	void firingTakesTheLatestThatIsDue() {
		this.clock.learn(this.own.server(), this.own.nanoTime(), this.own);
		for (int count = 0; count < 3; count++) {
			Instant own = plan();
			this.own.pass(Duration.between(this.own.instant(), own));
		}
		// The firings of the first and the second were rejected; a fourth is pending
		plan();
		assertThat(this.trigger.take()).isEqualTo("2026-03-01T12:00:03Z");
		this.own.pass(Duration.ofSeconds(1));
		assertThat(this.trigger.take()).isEqualTo("2026-03-01T12:00:04Z");
	}

	@Test
	void timeThatWasTakenIsNotUnfired() {
		plan();
		assertThat(this.trigger.unfired()).isEqualTo("2026-03-01T12:00:01Z");
		this.trigger.take();
		assertThat(this.trigger.unfired()).isNull();
	}

	@Test
	void firingThatIsEarlyTakesWhatIsPending() {
		plan();
		assertThat(this.trigger.take()).isEqualTo("2026-03-01T12:00:01Z");
	}

	@Test
	void triggerThatEndsEnds() {
		assertThat(new JobTrigger((context) -> null, this.clock).nextExecution(this.context)).isNull();
	}

	@Test
	void pendingInstantsAreBounded() {
		this.clock.learn(this.own.server(), this.own.nanoTime(), this.own);
		for (int count = 0; count < 100; count++) {
			Instant own = plan();
			this.own.pass(Duration.between(this.own.instant(), own));
		}
		for (int count = 0; count < 64; count++) {
			assertThat(this.trigger.take()).isEqualTo(Instant.parse("2026-03-01T12:01:40Z").minusSeconds(count));
		}
		assertThat(this.trigger.take()).isEqualTo("2026-03-01T12:01:40Z");
	}

	@Test
	void triggerThatPlansByTheWrongClockIsSlowedDown(CapturedOutput output) {
		this.own.set(Duration.ofMinutes(-10));
		this.clock.learn(this.own.server(), this.own.nanoTime(), this.own);
		JobTrigger wrong = new JobTrigger((context) -> this.own.instant().plusSeconds(1), this.clock);
		wrong.nextExecution(this.context);
		for (int firing = 0; firing < 3; firing++) {
			this.own.pass(Duration.ofMillis(1));
			assertThat(wrong.nextExecution(this.context)).isEqualTo(this.own.instant().plusMillis(99));
			this.own.pass(Duration.ofMillis(99));
		}
		assertThat(output).containsOnlyOnce("must plan by TriggerContext.getClock()");
	}

	@Test
	void everyHourIsPlannedOnceWhereSpringRepeatsOne() {
		MovedClock own = new MovedClock("2026-04-04T11:30:00Z");
		StoreClock clock = new StoreClock(own::nanoTime);
		clock.learn(own.server(), own.nanoTime(), own);
		JobTrigger trigger = new JobTrigger(new CronTrigger("0 0 * * * *", ZoneId.of("Australia/Lord_Howe")), clock);
		List<Instant> planned = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			planned.add(fire(trigger, own));
		}
		assertThat(planned).isSorted().doesNotHaveDuplicates();
		assertThat(planned.get(0)).isEqualTo("2026-04-04T12:00:00Z");
		assertThat(planned.get(5)).isBetween("2026-04-04T17:00:00Z", "2026-04-04T18:30:00Z");
		Instant latest = trigger.latest(planned.get(0), own.server(), own);
		assertThat(latest).as("looking back over the repeated hour").isEqualTo(planned.get(5));
	}

	private static Instant fire(JobTrigger trigger, MovedClock own) {
		Instant next = trigger.nextExecution(new SimpleTriggerContext(own));
		assertThat(next).isNotNull();
		own.pass(Duration.between(own.instant(), next));
		return trigger.take();
	}

	@Test
	void triggerThatRepeatsItselfGoesOnSlowlyAndIsReported(CapturedOutput output) {
		this.clock.learn(this.own.server(), this.own.nanoTime(), this.own);
		Instant first = Instant.parse("2026-03-01T12:00:05Z");
		AtomicReference<Instant> stored = new AtomicReference<>(first);
		JobTrigger trigger = new JobTrigger((context) -> stored.get(), this.clock);
		assertThat(fire(trigger, this.own)).isEqualTo(first);
		for (int i = 0; i < 3; i++) {
			Instant before = this.own.instant();
			assertThat(fire(trigger, this.own)).isEqualTo(first);
			assertThat(Duration.between(before, this.own.instant())).isEqualTo(Duration.ofSeconds(5));
		}
		assertThat(output).containsOnlyOnce("plans 2026-03-01T12:00:05Z after 2026-03-01T12:00:05Z.").contains("WARN");
		stored.set(first.plusSeconds(60));
		assertThat(fire(trigger, this.own)).isEqualTo(first.plusSeconds(60));
	}

	@Test
	void triggerThatPlansByTheClockGoesOnIfTheServersTimeIsBeforeTheLastTime(CapturedOutput output) {
		this.clock.learn(this.own.server(), this.own.nanoTime(), this.own);
		JobTrigger trigger = new JobTrigger(
				(context) -> context.getClock().instant().truncatedTo(ChronoUnit.SECONDS).plusSeconds(1), this.clock);
		Instant first = fire(trigger, this.own);
		// The server's clock was set back a little, or another primary is behind
		this.clock.learn(this.own.server().minusMillis(60), this.own.nanoTime(), this.own);
		assertThat(fire(trigger, this.own)).isEqualTo(first.plusSeconds(1));
		assertThat(output).doesNotContain("WARN");
	}

	private void assertFires(String planned) {
		assertThat(fire()).isEqualTo(planned);
		assertThat(this.own.server()).isEqualTo(planned);
	}

	/**
	 * Plan, wait until the scheduler's timer fires, and return the planned task.
	 */
	private Instant fire() {
		Instant own = plan();
		this.own.pass(Duration.between(this.own.instant(), own));
		Instant planned = this.trigger.take();
		this.context.update(own, this.own.instant(), this.own.instant());
		return planned;
	}

	private Instant plan() {
		@Nullable Instant own = this.trigger.nextExecution(this.context);
		assertThat(own).isNotNull();
		return own;
	}

}
