package dev.dblock.job.schedule;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobInfo.JobStatus;
import dev.dblock.job.JobPolicy.WhenClockChanges;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobShards;
import dev.dblock.job.schedule.JobEngine.JobRecords;
import dev.dblock.job.schedule.ScheduledJobs.WhenUnlocked;
import dev.dblock.job.trigger.MovedClock;
import dev.dblock.job.trigger.StoreClock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.mockito.ArgumentCaptor;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.SimpleTriggerContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.then;
import static org.mockito.Mockito.mock;

/**
 * When a job is overdue, by its record and the plan of this instance.
 */
@ExtendWith(OutputCaptureExtension.class)
class ScheduledJobOperationsTests {

	private static final Instant PLANNED = Instant.parse("2026-03-01T12:00:00Z");

	private static final Instant LATER = PLANNED.plus(Duration.ofMinutes(2));

	private final MovedClock time = new MovedClock("2026-03-01T11:59:59Z");

	private final TaskScheduler scheduler = mock(TaskScheduler.class);

	private final ScheduledJobs jobs = new ScheduledJobs(Map.of(), WhenUnlocked.IGNORE);

	private final ScheduledJobOperations operations = new ScheduledJobOperations(List.of(this.jobs));

	private @Nullable JobStatus status;

	private @Nullable RuntimeException failure;

	private int asked;

	private @Nullable String lock = "job";

	private final List<Set<String>> readTogether = new ArrayList<>();

	private JobEngine engine;

	private JobTask job;

	@BeforeEach
	void schedule() {
		this.engine = new JobEngine(new JobRecords() {

			@Override
			public Optional<JobStatus> find(String fullName, String jobId, @Nullable Duration limit) {
				ScheduledJobOperationsTests.this.asked++;
				if (ScheduledJobOperationsTests.this.failure != null) {
					throw ScheduledJobOperationsTests.this.failure;
				}
				return Optional.ofNullable(ScheduledJobOperationsTests.this.status);
			}

			@Override
			public Map<String, ClaimRecord.Status> findAll(Map<String, Claim.Key> keys, @Nullable Duration limit) {
				ScheduledJobOperationsTests.this.readTogether.add(keys.keySet());
				return Map.of("job (shard 2)", new JobStatus("job (shard 2)",
						List.of(run(PLANNED, JobRun.Outcome.SUCCEEDED)), false, null, null, null, null, LATER));
			}

		});
		Runnable task = new Runnable() {

			@Override
			public void run() {
			}

			@Override
			public String toString() {
				return "task";
			}

		};
		this.jobs.add("task", this.jobs.method("bean", getClass(), "run", () -> declaration(0)));
		StoreClock clock = new StoreClock(this.time::nanoTime);
		clock.learn(this.time.instant(), clock.nanoTime(), this.time);
		this.job = this.jobs.captured(task, null, new JobTask(task, this.jobs.of(task), this.scheduler, clock));
		given(this.scheduler.getClock()).willReturn(this.time);
		this.job.byTrigger(new CronTrigger("0 0 12 * * *", ZoneOffset.UTC));
		ArgumentCaptor<Trigger> trigger = ArgumentCaptor.forClass(Trigger.class);
		then(this.scheduler).should().schedule(any(), trigger.capture());
		trigger.getValue().nextExecution(new SimpleTriggerContext(this.time));
	}

	private JobMethod.Declaration declaration(int shards) {
		return new JobMethod.Declaration(null, this.lock, "job", this.engine, false, false, Duration.ofHours(1), null,
				null, null, WhenClockChanges.AS_PLANNED, null, shards, 1);
	}

	private JobInfo at(Instant now, @Nullable String pausedBy, JobRun... runs) {
		this.status = new JobStatus("job", List.of(runs), pausedBy != null, pausedBy, null, null, null, now);
		return this.operations.find("job").orElseThrow();
	}

	private static JobRun run(Instant planned, JobRun.@Nullable Outcome outcome) {
		return new JobRun("job", planned, 1, planned, null, outcome, "another", 1, null);
	}

	@Test
	void callThatIsInProgressAtTheShutdownKnowsTheSchedules() {
		this.jobs.close();
		assertThat(this.jobs.scheduled()).isEmpty();
		assertThat(this.job.plans().different()).hasSize(1);
	}

	@Test
	void shardsOfAllPlannedTimesAreReadTogether() {
		ScheduledJobs jobs = new ScheduledJobs(Map.of(), WhenUnlocked.IGNORE);
		jobs.method("bean", getClass(), "run", () -> declaration(3)).capture();
		JobRun begun = new JobRun("job", PLANNED, 1, PLANNED, PLANNED, JobRun.Outcome.SUCCEEDED, "another", 1, null,
				null, null, 3);
		JobRun earlier = new JobRun("job", PLANNED.minusSeconds(60), 1, PLANNED, PLANNED, JobRun.Outcome.SUCCEEDED,
				"another", 1, null, null, null, 2);
		this.status = new JobStatus("job", List.of(begun, earlier), false, null, null, null, null, LATER);
		JobInfo found = new ScheduledJobOperations(List.of(jobs)).find("job").orElseThrow();
		assertThat(this.readTogether).containsExactly(Set.of("job (shard 1)", "job (shard 2)", "job (shard 3)"));
		assertThat(found.shards()).extracting(JobShards::describe)
			.containsExactly("1 of 3 succeeded, 2 open", "0 of 2 succeeded, 2 missed");
		assertThat(this.asked).isOne();
	}

	@Test
	void jobIsOverdueIfNoInstanceHasRunAPlannedTime() {
		JobRun before = run(PLANNED.minusSeconds(3600), JobRun.Outcome.SUCCEEDED);
		assertThat(at(LATER, null, before).overdue()).isTrue();
		assertThat(at(LATER, null).overdue()).as("it never ran").isTrue();
		assertThat(at(PLANNED.plusSeconds(59), null, before).overdue()).as("within a minute").isFalse();
	}

	@Test
	void jobIsNotOverdueIfItWasRunIsRunningOrIsPaused() {
		assertThat(at(LATER, null, run(PLANNED, JobRun.Outcome.FAILED)).overdue()).isFalse();
		assertThat(at(LATER, null, run(PLANNED.minusSeconds(3600), null)).overdue()).isFalse();
		assertThat(at(LATER, "ann").overdue()).isFalse();
	}

	@Test
	void instancesThatDisagreeAboutAScheduleAreLoggedOnce(CapturedOutput output) {
		Instant nextDay = PLANNED.plus(Duration.ofDays(1));
		at(nextDay, null, run(nextDay, null), run(PLANNED, JobRun.Outcome.SUCCEEDED));
		at(LATER, null, run(PLANNED.minusSeconds(1800), JobRun.Outcome.SUCCEEDED));
		assertThat(output).as("what was run before this instance was there").doesNotContain("different schedules");
		for (int i = 0; i < 2; i++) {
			at(nextDay, null, run(PLANNED.plusSeconds(3600), JobRun.Outcome.SUCCEEDED));
		}
		assertThat(output).containsOnlyOnce("different schedules")
			.contains("'job' was run by another for the planned time 2026-03-01T13:00:00Z", "cron 0 0 12 * * * in Z");
	}

	@Test
	void jobWhoseLockIsNotKnownYetIsListedAndNotChanged() {
		this.lock = null;
		ScheduledJobs others = new ScheduledJobs(Map.of(), WhenUnlocked.LOG);
		others.method("bean", getClass(), "run", () -> declaration(0)).capture();
		ScheduledJobOperations operations = new ScheduledJobOperations(List.of(others));
		JobInfo job = operations.list().get(0);
		assertThat(job.id()).isEqualTo("job");
		assertThat(job.lock()).isNull();
		assertThatIllegalStateException().isThrownBy(() -> operations.pause("job", "ann"))
			.withMessageContaining("is not known yet");
	}

	@Test
	void jobWhoseRecordCannotBeReadIsListedWithTheReason() {
		this.jobs.method("another", getClass(), "run", this.jobs.jobs().get(0)::declaration).capture();
		this.failure = new IllegalStateException("The document is foreign");
		assertThat(this.operations.list()).hasSize(2)
			.allSatisfy((job) -> assertThat(job.problem()).isEqualTo("The document is foreign"));
		assertThat(this.asked).isEqualTo(2);
		this.failure = new QueryTimeoutException("away");
		assertThat(this.operations.list()).hasSize(2).allSatisfy((job) -> assertThat(job.problem()).isEqualTo("away"));
		assertThat(this.asked).as("a server that is not asked twice").isEqualTo(3);
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> this.operations.find("job"));
	}

}
