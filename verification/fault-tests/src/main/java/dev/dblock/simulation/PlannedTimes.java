package dev.dblock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.dblock.job.JobDecision;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobRun.Outcome;
import dev.dblock.simulation.scheduler.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Checks the promises about planned times, by the calls of the work and by what the store
 * has recorded.
 */
final class PlannedTimes {

	private static final Duration EARLIEST = Duration.ofMillis(JobDecision.EARLIEST);

	private final Scheduler scheduler;

	private final Journal journal;

	private final Function<String, List<JobRun>> stored;

	private final Supplier<Instant> serverTime;

	private final Map<String, List<Run>> runs = new LinkedHashMap<>();

	private final NavigableSet<Instant> atRate = new TreeSet<>();

	private final Set<String> missed = new HashSet<>();

	private @Nullable Instant counted;

	/**
	 * Create the checks.
	 * @param stored returns the runs of a job that the store has, the latest first
	 * @param serverTime returns the time of the server
	 */
	PlannedTimes(Scheduler scheduler, Journal journal, Function<String, List<JobRun>> stored,
			Supplier<Instant> serverTime) {
		this.scheduler = scheduler;
		this.journal = journal;
		this.stored = stored;
		this.serverTime = serverTime;
	}

	/**
	 * Called when work begins for a planned time.
	 * @param rerun whether it is repeated if it crashes
	 */
	Run begun(Instance instance, JobRun run, boolean rerun) {
		return this.scheduler.atomically(() -> check(instance, run, rerun));
	}

	private Run check(Instance instance, JobRun run, boolean rerun) {
		Run begun = new Run(instance.name(), run, rerun, this.scheduler.now());
		List<Run> earlier = this.runs.computeIfAbsent(run.jobId() + " planned for " + run.plannedAt(),
				(key) -> new ArrayList<>());
		this.journal.add("run " + begun);
		this.journal.count("runs");
		if (run.attempt() > 1) {
			this.journal.count("repeated runs");
		}
		require(rerun || earlier.isEmpty(), begun, earlier, "runs, and has run before");
		require(earlier.stream().noneMatch((other) -> other.run.attempt() == run.attempt()), begun, earlier,
				"is the same attempt as an earlier one");
		require(!this.missed.contains(run.jobId() + " planned for " + run.plannedAt()), begun, earlier,
				"runs though it was reported as missed");
		require(run.attempt() <= JobDecision.MOST_ATTEMPTS, begun, earlier, "is one attempt too many");
		require(stored(run).stream().noneMatch((other) -> other.attempt() < run.attempt() && isEnd(other.outcome())),
				begun, earlier, "is repeated though an end is recorded");
		// An attempt that was given up can have determined the planned time of a period.
		// The
		// grant after it may be dated by a less accurate sample of the clock, in the past
		Instant granted = ScheduledWork.isPeriodic(run.jobId()) ? this.serverTime.get() : run.startedAt();
		require(!granted.isBefore(run.plannedAt().minus(EARLIEST)), begun, earlier,
				"was granted too early, at " + granted);
		if (run.jobId().equals(ScheduledWork.AT_RATE)) {
			Instant planned = run.plannedAt();
			Instant before = this.atRate.lower(planned);
			require(before == null || !planned.isBefore(before.plus(ScheduledWork.PERIOD)), begun, earlier,
					"follows a run for " + before + " within a period");
			this.atRate.add(planned);
		}
		earlier.add(begun);
		return begun;
	}

	/**
	 * Called when an instance reports a planned time as missed: no other one does, and it
	 * does not run, neither before nor after that.
	 */
	void missed(String job, Instant plannedAt) {
		this.scheduler.atomically(() -> {
			String planned = job + " planned for " + plannedAt;
			List<Run> runs = this.runs.getOrDefault(planned, List.of());
			if (!runs.isEmpty()) {
				this.journal.violation(planned + " is reported as missed, and runs: " + runs,
						this.scheduler.requireCurrent());
			}
			if (!this.missed.add(planned)) {
				this.journal.violation(planned + " is reported as missed twice", this.scheduler.requireCurrent());
			}
			return planned;
		});
	}

	private void require(boolean condition, Run begun, List<Run> earlier, String broken) {
		if (!condition) {
			this.journal.violation(begun + " " + broken + ": " + earlier, this.scheduler.requireCurrent());
		}
	}

	private List<JobRun> stored(JobRun run) {
		return this.stored.apply(run.jobId())
			.stream()
			.filter((other) -> other.plannedAt().equals(run.plannedAt()))
			.toList();
	}

	private static boolean isEnd(@Nullable Outcome outcome) {
		return outcome == Outcome.SUCCEEDED || outcome == Outcome.FAILED;
	}

	/**
	 * Check that all jobs have run when they had to since a time, from which on nothing
	 * was disturbed. Those that did not run before are counted only. Called in a thread
	 * of the server.
	 * @param now the server's time
	 */
	void requireAll(long from, Instant now) {
		requireRepeated(from);
		ScheduledWork.ofEachPeriod().forEach((job) -> countMissed(job, now));
		this.counted = now;
		ScheduledWork.longestPauses().forEach((job, longest) -> requireRuns(job, from, longest.toNanos()));
	}

	private void countMissed(String job, Instant now) {
		Duration period = ScheduledWork.PERIOD;
		Instant from = (this.counted != null) ? this.counted : now.minusNanos(this.scheduler.elapsedNanos());
		long first = from.toEpochMilli() / period.toMillis() + 1;
		for (long number = first; number <= now.toEpochMilli() / period.toMillis(); number++) {
			String planned = job + " planned for " + Instant.ofEpochMilli(number * period.toMillis());
			this.journal.count((this.runs.containsKey(planned) ? "run: " : "not run: ") + job);
		}
	}

	private void requireRuns(String job, long from, long longest) {
		long before = from;
		List<Run> seen = this.runs.values()
			.stream()
			.flatMap(List::stream)
			.filter((run) -> run.run.jobId().equals(job) && run.began > from)
			.sorted(Comparator.comparingLong((run) -> run.began))
			.toList();
		for (Run run : seen) {
			requirePause(job, run.began - before, longest, seen);
			before = run.began;
		}
		requirePause(job, this.scheduler.now() - before, longest, seen);
	}

	private void requirePause(String job, long pause, long longest, List<Run> seen) {
		if (pause > longest) {
			this.journal.violation("%s did not run for %d ms, though nothing was disturbed: %s".formatted(job,
					pause / 1_000_000, seen));
		}
	}

	/**
	 * Check that no planned time whose crashed runs are repeated was begun and lost.
	 * @param before when it was begun at the latest
	 */
	void requireRepeated(long before) {
		this.runs.forEach((planned, attempts) -> {
			Run last = attempts.get(attempts.size() - 1);
			boolean ends = !last.rerun || last.began > before || attempts.stream().anyMatch((run) -> run.done);
			if (!ends && stored(last.run).stream().allMatch((run) -> run.attempt() < JobDecision.MOST_ATTEMPTS)) {
				this.journal.violation("%s was begun, and is lost: %s".formatted(planned, attempts));
			}
		});
	}

	/**
	 * A call of the work.
	 */
	static final class Run {

		private final String instance;

		private final JobRun run;

		private final boolean rerun;

		private final long began;

		private boolean done;

		Run(String instance, JobRun run, boolean rerun, long began) {
			this.instance = instance;
			this.run = run;
			this.rerun = rerun;
			this.began = began;
		}

		void done() {
			this.done = true;
		}

		@Override
		public String toString() {
			return "%s planned for %s, attempt %d on %s at %s%s".formatted(this.run.jobId(), this.run.plannedAt(),
					this.run.attempt(), this.instance, Scheduler.readable(this.began), this.done ? ", ended" : "");
		}

	}

}
