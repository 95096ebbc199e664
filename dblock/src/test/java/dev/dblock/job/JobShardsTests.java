package dev.dblock.job;

import java.time.Instant;
import java.util.List;

import dev.dblock.job.JobRun.Outcome;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class JobShardsTests {

	private static final Instant PLANNED = Instant.parse("2026-11-30T02:00:00Z");

	private static final Instant LATER = PLANNED.plusSeconds(60);

	private static JobRun run(Instant planned, int attempt, @Nullable Outcome outcome) {
		return new JobRun("report (shard 1)", planned, attempt, planned,
				(outcome != null) ? planned.plusSeconds(1) : null, outcome, "an instance", 1, null, null, null, 16);
	}

	private static JobShards shards(boolean rerun, JobRun... latestFirst) {
		return JobShards.of(PLANNED, List.of(List.of(latestFirst)), false, rerun);
	}

	@Test
	void countsWhatBecameOfEachShard() {
		JobShards shards = JobShards.of(PLANNED, List.of(List.of(run(PLANNED, 1, Outcome.SUCCEEDED)),
				List.of(run(LATER, 1, null), run(PLANNED, 1, Outcome.SUCCEEDED)), List.of(run(PLANNED, 1, null)),
				List.of(run(PLANNED, 1, Outcome.FAILED)), List.of(run(LATER, 1, null)), List.of()), false, false);
		assertThat(shards).isEqualTo(new JobShards(PLANNED, 6, 2, 1, 1, 1, 1, PLANNED.plusSeconds(1)));
		assertThat(shards.describe()).isEqualTo("2 of 6 succeeded, 1 running, 1 failed, 1 missed, 1 open");
		assertThat(shards.isOver()).isFalse();
	}

	@Test
	void noneIsOpenOnceALaterPlannedTimeHasBegunWithFewer() {
		JobShards shards = JobShards.of(PLANNED, List.of(List.of(), List.of(run(PLANNED, 1, Outcome.CRASHED))), true,
				true);
		assertThat(shards).isEqualTo(new JobShards(PLANNED, 2, 0, 0, 1, 1, 0, PLANNED.plusSeconds(1)));
		assertThat(shards.isOver()).isTrue();
	}

	@Test
	void isASuccessIfAllSucceeded() {
		assertThat(shards(false, run(PLANNED, 1, Outcome.SUCCEEDED)).isSuccess()).isTrue();
		assertThat(shards(false, run(PLANNED, 1, Outcome.FAILED)).isSuccess()).isFalse();
		assertThat(shards(false).isSuccess()).isFalse();
	}

	@Test
	void isOverIfNoneRunsAndNoneIsOpen() {
		assertThat(shards(false, run(PLANNED, 1, Outcome.FAILED)).isOver()).isTrue();
		assertThat(shards(false, run(LATER, 1, null)).isOver()).isTrue();
		assertThat(shards(false, run(PLANNED, 1, null)).isOver()).isFalse();
		assertThat(shards(false).isOver()).isFalse();
	}

	@Test
	void aShardThatCrashedIsOpenAsLongAsItIsRepeated() {
		for (Outcome outcome : List.of(Outcome.CRASHED, Outcome.LOST)) {
			assertThat(shards(false, run(PLANNED, 1, outcome)).failed()).isEqualTo(1);
			assertThat(shards(true, run(PLANNED, 2, outcome)).open()).isEqualTo(1);
			assertThat(shards(true, run(PLANNED, 3, outcome)).failed()).as("the last attempt").isEqualTo(1);
			assertThat(shards(true, run(LATER, 1, null), run(PLANNED, 1, outcome)).failed()).as("overtaken")
				.isEqualTo(1);
		}
		assertThat(shards(true, run(PLANNED, 1, Outcome.FAILED)).failed()).isEqualTo(1);
	}

	@Test
	void aShardWhoseWorkNeverBeganIsOpenUntilALaterOne() {
		assertThat(shards(false, run(PLANNED, 1, Outcome.ABANDONED)).open()).isEqualTo(1);
		assertThat(shards(false, run(LATER, 1, null), run(PLANNED, 1, Outcome.ABANDONED)).missed()).isEqualTo(1);
	}

	@ParameterizedTest
	@CsvSource({ "report (shard 3), 3, report", "report, 0, report", "report (shard x), 0, report (shard x)",
			"a (shard 2) (shard 1000), 1000, a (shard 2)", "report (shard 12345), 0, report (shard 12345)",
			"report (shard ), 0, report (shard )", "report (permit 3), 0, report (permit 3)" })
	void namesShowTheNumberAndTheJob(String id, int number, String job) {
		assertThat(ShardNames.numberOf(id)).isEqualTo(number);
		assertThat(ShardNames.jobOf(id)).isEqualTo(job);
		if (number > 0) {
			assertThat(ShardNames.of(job, number)).isEqualTo(id);
		}
	}

	@Test
	void onlyARunOfAPlannedTimeWithShardsIsOfAShard() {
		assertThat(run(PLANNED, 1, null).shard()).isEqualTo(1);
		assertThat(new JobRun("report (shard 1)", PLANNED, 1, PLANNED, null, null, "an instance", 1, null).shard())
			.isZero();
	}

}
