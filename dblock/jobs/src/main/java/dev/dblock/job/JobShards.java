package dev.dblock.job;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;

import dev.dblock.job.JobRun.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * What became of the shards of a planned time.
 *
 * @param plannedAt the planned time
 * @param count how many shards it has
 * @param succeeded how many of them succeeded
 * @param running how many are being run
 * @param failed how many failed, crashed, or lost their locks, and are not repeated
 * @param missed how many were not run and are not any more, since a later planned time of
 * the shard was
 * @param open how many were not run yet, or are to be repeated
 * @param endedAt when the last of them ended; {@code null} if none has
 */
public record JobShards(Instant plannedAt, int count, int succeeded, int running, int failed, int missed, int open,
		@Nullable Instant endedAt) {

	/**
	 * Count the shards of a planned time.
	 * @param plannedAt the planned time
	 * @param shards the last runs of each shard, the latest first
	 * @param later whether a later planned time has begun, so that none of them starts
	 * any more
	 * @param rerun whether those that crashed are repeated
	 * @return the counts
	 */
	public static JobShards of(Instant plannedAt, List<List<JobRun>> shards, boolean later, boolean rerun) {
		int[] counts = new int[State.values().length];
		shards.forEach((runs) -> counts[State.of(plannedAt, runs, later, rerun).ordinal()]++);
		return new JobShards(plannedAt, shards.size(), counts[State.SUCCEEDED.ordinal()],
				counts[State.RUNNING.ordinal()], counts[State.FAILED.ordinal()], counts[State.MISSED.ordinal()],
				counts[State.OPEN.ordinal()], endedAt(plannedAt, shards));
	}

	private static @Nullable Instant endedAt(Instant plannedAt, List<List<JobRun>> shards) {
		return shards.stream()
			.flatMap(List::stream)
			.filter((run) -> run.plannedAt().equals(plannedAt))
			.map(JobRun::endedAt)
			.filter(Objects::nonNull)
			.max(Comparator.naturalOrder())
			.orElse(null);
	}

	/**
	 * Whether all shards succeeded.
	 * @return whether they did
	 */
	public boolean isSuccess() {
		return this.succeeded == this.count;
	}

	/**
	 * Whether no shard is being run or is still to be run.
	 * @return whether the planned time is over
	 */
	public boolean isOver() {
		return this.running == 0 && this.open == 0;
	}

	/**
	 * Return the counts as text.
	 * @return the text, such as {@code 13 of 16 succeeded, 2 running, 1 open}
	 */
	public String describe() {
		return this.succeeded + " of " + this.count + " succeeded" + describe(this.running, "running")
				+ describe(this.failed, "failed") + describe(this.missed, "missed") + describe(this.open, "open");
	}

	private static String describe(int count, String what) {
		return (count > 0) ? ", " + count + " " + what : "";
	}

	private enum State {

		SUCCEEDED, RUNNING, FAILED, MISSED, OPEN;

		static State of(Instant plannedAt, List<JobRun> runs, boolean laterBegun, boolean rerun) {
			JobRun run = runs.stream().filter((each) -> each.plannedAt().equals(plannedAt)).findFirst().orElse(null);
			boolean later = laterBegun || !runs.isEmpty() && runs.get(0).plannedAt().isAfter(plannedAt);
			if (run == null || run.outcome() == Outcome.ABANDONED) {
				return later ? MISSED : OPEN;
			}
			boolean crashed = run.outcome() == Outcome.CRASHED || run.outcome() == Outcome.LOST;
			if (crashed && rerun && !later && run.attempt() < JobDecision.MOST_ATTEMPTS) {
				return OPEN;
			}
			return of(run.outcome());
		}

		private static State of(@Nullable Outcome outcome) {
			if (outcome == null) {
				return RUNNING;
			}
			return switch (outcome) {
				case SUCCEEDED -> SUCCEEDED;
				case FAILED, CRASHED, LOST -> FAILED;
				case MISSED, ABANDONED -> MISSED;
			};
		}

	}

}
