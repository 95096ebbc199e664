package dev.dblock.job.micrometer;

import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.dblock.LockRefusal;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobOperations;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRun;
import io.micrometer.common.docs.KeyName;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Tests for {@link JobMeters}.
 */
class JobMetersTests {

	private static final Instant START = Instant.parse("2026-03-01T12:00:00Z");

	private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

	private final JobOperations jobs = mock(JobOperations.class);

	private final JobMeters meters = new JobMeters(this.registry, () -> this.jobs, Runnable::run);

	JobMetersTests() {
		given(this.jobs.ids()).willReturn(Set.of("job"));
		given(this.jobs.find("job")).willReturn(Optional.empty());
	}

	private static JobRun run(String id, Instant start, JobRun.@Nullable Outcome outcome) {
		return new JobRun(id, start, 1, start, (outcome != null) ? start.plusMillis(1500) : null, outcome, "one", 1,
				null);
	}

	private void record(Instant now, JobRun... runs) {
		record(false, false, null, now, runs);
	}

	private void record(boolean paused, boolean overdue, @Nullable String problem, Instant now, JobRun... runs) {
		given(this.jobs.find("job")).willReturn(Optional.of(new JobInfo("job", "job", "bean", "run", List.of(), paused,
				null, null, null, overdue, now, List.of(runs), List.of(), problem)));
	}

	private void hearOf(JobRun last) {
		this.meters.onUnavailable(new LockRefusal("job", null, Duration.ZERO, null,
				new JobRefusal(JobRefusal.Reason.DONE, null, last, null, START)));
	}

	private double sinceSuccess() {
		return gauge("dblock.job.since.success");
	}

	private double gauge(String name) {
		return this.registry.get(name).tag("job.id", "job").gauge().value();
	}

	@Test
	void runsAreTimedByTheirOutcome() {
		this.meters.onRunEnded("job", run("job", START, JobRun.Outcome.SUCCEEDED));
		this.meters.onRunEnded("job", run("job", START, JobRun.Outcome.FAILED));
		this.meters.onRunEnded("job", run("job", START, JobRun.Outcome.FAILED));
		assertThat(this.registry.get("dblock.job.runs").tag("outcome", "failed").timer().count()).isEqualTo(2);
		assertThat(this.registry.get("dblock.job.runs").tag("outcome", "succeeded").timer().mean(TimeUnit.MILLISECONDS))
			.isEqualTo(1500);
	}

	@Test
	void crashIsCountedWithoutADuration() {
		this.meters.onRunCrashed("job", run("job", START, null));
		this.meters.onRunCrashed("order-4711", run("order-4711", START, null));
		assertThat(this.registry.getMeters()).extracting((meter) -> meter.getId().getTag("job.id")).containsOnly("job");
		Timer crashes = this.registry.get("dblock.job.runs").tag("outcome", "crashed").timer();
		assertThat(crashes.count()).isEqualTo(1);
		assertThat(crashes.totalTime(TimeUnit.SECONDS)).isZero();
	}

	/**
	 * Prometheus computes an increase from the first value that it sees.
	 */
	@Test
	void allMetersOfAJobBeginAtZero() {
		hearOf(run("job", START, JobRun.Outcome.SUCCEEDED));
		assertThat(this.registry.get("dblock.job.runs").timers())
			.extracting((timer) -> timer.getId().getTag("outcome") + " " + timer.count())
			.containsExactlyInAnyOrder("succeeded 0", "failed 0", "lost 0", "crashed 0");
		assertThat(this.registry.get("dblock.job.missed").counter().count()).isZero();
	}

	@Test
	void missedPlannedTimesAreCounted() {
		this.meters.onMissed("job", "job", START);
		assertThat(this.registry.get("dblock.job.missed").tag("job.id", "job").counter().count()).isEqualTo(1);
	}

	@Test
	void successOfThisInstanceCountsAtOnce() {
		this.meters.onRunEnded("job", run("job", START, JobRun.Outcome.SUCCEEDED));
		assertThat(sinceSuccess()).isNotNegative().isLessThan(1000);
	}

	@Test
	void successOfAnotherInstanceIsReadFromTheRecord() {
		record(START.plusSeconds(7201), run("job", START.plusSeconds(7200), JobRun.Outcome.FAILED),
				run("job", START, JobRun.Outcome.SUCCEEDED),
				run("job", START.minusSeconds(7200), JobRun.Outcome.FAILED));
		hearOf(run("job", START.plusSeconds(7200), JobRun.Outcome.FAILED));
		assertThat(sinceSuccess()).isBetween(7199.5, 8199.5);
	}

	@Test
	void withoutAnySuccessItIsAtLeastTheTimeSinceTheEarliestRun() {
		record(START.plusSeconds(7201), run("job", START.plusSeconds(7200), JobRun.Outcome.FAILED),
				run("job", START, JobRun.Outcome.FAILED));
		hearOf(run("job", START, JobRun.Outcome.FAILED));
		assertThat(sinceSuccess()).isBetween(7201.0, 8201.0);
	}

	@Test
	void itIsUnknownWhileTheRecordCannotBeRead() {
		given(this.jobs.find("job")).willThrow(new QueryTimeoutException("away"));
		hearOf(run("job", START, JobRun.Outcome.FAILED));
		assertThat(sinceSuccess()).isNaN();
	}

	@Test
	void overdueAndPausedAreReadFromTheRecord() {
		record(false, true, null, START);
		hearOf(run("job", START, JobRun.Outcome.SUCCEEDED));
		assertThat(gauge("dblock.job.overdue")).isEqualTo(1);
		assertThat(gauge("dblock.job.paused")).isZero();
	}

	@Test
	void pausedJobWithoutRunsIsPaused() {
		record(true, false, null, START);
		hearOf(run("job", START, JobRun.Outcome.SUCCEEDED));
		assertThat(gauge("dblock.job.paused")).isEqualTo(1);
		assertThat(gauge("dblock.job.overdue")).isZero();
	}

	@Test
	void overdueAndPausedAreUnknownWithoutTheRecord() {
		record(false, false, "The request was too slow", START);
		hearOf(run("job", START, JobRun.Outcome.SUCCEEDED));
		assertThat(gauge("dblock.job.overdue")).isNaN();
		assertThat(gauge("dblock.job.paused")).isNaN();
	}

	@Test
	void runsOfLocksThatAreNoMethodAreNotMeasured() {
		this.meters.onRunEnded("order-4711", run("order-4711", START, JobRun.Outcome.SUCCEEDED));
		assertThat(this.registry.getMeters()).isEmpty();
	}

	@Test
	void metersOfFormerNamesAreRemoved() {
		given(this.jobs.ids()).willReturn(Set.of("job", "report-1"));
		this.meters.onRunEnded("job", run("job", START, JobRun.Outcome.SUCCEEDED));
		this.meters.onRunEnded("report-1", run("report-1", START, JobRun.Outcome.SUCCEEDED));
		this.meters.onMissed("report-1", "report-1", START);
		given(this.jobs.ids()).willReturn(Set.of("job", "report-2"));
		this.meters.onRunEnded("report-2", run("report-2", START, JobRun.Outcome.SUCCEEDED));
		assertThat(this.registry.getMeters()).extracting((meter) -> meter.getId().getTag("job.id"))
			.containsOnly("job", "report-2");
	}

	@Test
	void metersOfFormerNamesThatWereOnlyMissedAreRemoved() {
		for (int day = 1; day <= 3; day++) {
			given(this.jobs.ids()).willReturn(Set.of("report-" + day));
			this.meters.onMissed("report-" + day, "report-" + day, START);
		}
		assertThat(this.registry.getMeters()).extracting((meter) -> meter.getId().getTag("job.id"))
			.containsOnly("report-3");
	}

	@Test
	void metersAreThoseThatAreDocumented() {
		this.meters.onRunEnded("job", run("job", START, JobRun.Outcome.SUCCEEDED));
		this.meters.onMissed("job", "job", START);
		Set<JobMeterDocumentation> documented = EnumSet.allOf(JobMeterDocumentation.class);
		assertThat(this.registry.getMeters().stream().map((meter) -> meter.getId().getName()).distinct())
			.hasSameSizeAs(documented);
		for (JobMeterDocumentation one : documented) {
			assertThat(this.registry.get(one.getName()).meters()).allSatisfy((meter) -> {
				assertThat(meter.getId().getType()).isEqualTo(one.getType());
				assertThat(meter.getId().getTags().stream().map((tag) -> tag.getKey()).collect(Collectors.toSet()))
					.isEqualTo(Stream.of(one.getKeyNames()).map(KeyName::asString).collect(Collectors.toSet()));
			});
		}
	}

}
