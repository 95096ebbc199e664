package dev.dblock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.NavigableSet;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.dblock.faults.AccountLine;
import dev.dblock.job.JobDecision;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobRun.Outcome;
import dev.dblock.job.ShardNames;
import dev.dblock.simulation.scheduler.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Checks the promises about planned times, by the calls of the work and by what the store
 * has recorded.
 */
final class PlannedTimes {

	private static final Duration EARLIEST = Duration.ofMillis(JobDecision.EARLIEST);

	/** By then, an instance has noticed what it was granted without an answer. */
	private static final Duration REPORTED = Duration.ofSeconds(120);

	/** The same if nothing is disturbed. */
	private static final Duration SOON = Duration.ofSeconds(15);

	private final Scheduler scheduler;

	private final Journal journal;

	private final Function<String, List<JobRun>> stored;

	private final Supplier<Instant> serverTime;

	private final Map<String, List<Run>> runs = new LinkedHashMap<>();

	/** The last attempt for each planned time that the store recorded. */
	private final Map<String, JobRun> recorded = new HashMap<>();

	/** The entries of each job that settled planned times, by their own. */
	private final Map<String, NavigableMap<Instant, JobRun>> settling = new HashMap<>();

	/** The planned times that the record has a repetition of. */
	private final Set<String> repeated = new HashSet<>();

	/** When each of these entries was seen first, at the next run. */
	private final Map<String, Long> seen = new HashMap<>();

	/** When instances were killed, or began to shut down. */
	private final Map<String, Long> gone = new HashMap<>();

	private final NavigableSet<Instant> atRate = new TreeSet<>();

	private final Set<String> missed = new HashSet<>();

	private final Set<String> skipped = new HashSet<>();

	/** Planned times that an instance has logged as missed or skipped. */
	private final Set<String> logged = new HashSet<>();

	/** How many shards each planned time has. */
	private final Map<Instant, Integer> shards = new HashMap<>();

	/**
	 * Planned times of which an instance has reported that their shards are over, with
	 * the number of attempts until then.
	 */
	private final Map<Instant, Integer> over = new HashMap<>();

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
	 * @param held whether the lock is held. If it was lost, another thread may just be
	 * reporting what it has settled
	 */
	Run begun(Instance instance, JobRun run, boolean rerun, boolean held) {
		return this.scheduler.atomically(() -> check(instance, run, rerun, held));
	}

	private Run check(Instance instance, JobRun run, boolean rerun, boolean held) {
		Run begun = new Run(instance.name(), run, rerun, this.scheduler.now());
		remember(ScheduledWork.job(run.jobId()));
		List<Run> earlier = this.runs.computeIfAbsent(describe(run), (key) -> new ArrayList<>());
		this.journal.add("run " + begun);
		this.journal.count("runs");
		if (run.attempt() > 1) {
			this.journal.count("repeated runs");
		}
		require(rerun || earlier.isEmpty(), begun, earlier, "runs, and has run before");
		require(earlier.stream().noneMatch((other) -> other.run.attempt() == run.attempt()), begun, earlier,
				"is the same attempt as an earlier one");
		require(!this.skipped.contains(describe(run)), begun, earlier, "runs though it was reported as skipped");
		require(!this.missed.contains(describe(run)), begun, earlier, "runs though it was reported as missed");
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
		if (run.shards() > 0) {
			requireBegun(begun);
		}
		if (held) {
			requireReported(run);
		}
		earlier.add(begun);
		return begun;
	}

	/**
	 * Check that the planned time of a shard has begun, and has the same number of shards
	 * for all instances.
	 */
	private void requireBegun(Run begun) {
		JobRun run = begun.run;
		remember(ScheduledWork.SHARDED);
		String planned = describe(ScheduledWork.SHARDED, run.plannedAt());
		this.journal.count("shards run");
		require(shardsOf(run.plannedAt()) > 0, begun, List.of(), "runs though its planned time has not begun");
		require(!this.missed.contains(planned) && !this.skipped.contains(planned), begun, List.of(),
				"runs though its planned time was reported");
		require(this.shards.merge(run.plannedAt(), run.shards(), (known, other) -> known) == run.shards()
				&& run.shard() <= run.shards(), begun, List.of(), "is a shard of another number of them");
	}

	/**
	 * Return how many shards a planned time has, by the record of its beginning; 0 if it
	 * has not begun.
	 */
	private int shardsOf(Instant planned) {
		JobRun beginning = this.settling.getOrDefault(ScheduledWork.SHARDED, new TreeMap<>()).get(planned);
		if (beginning == null || beginning.outcome() == Outcome.MISSED) {
			return 0;
		}
		boolean abandoned = beginning.outcome() == Outcome.ABANDONED && !this.repeated.contains(describe(beginning));
		return abandoned ? 0 : beginning.shards();
	}

	/**
	 * Called when an instance reports that all shards of a planned time have ended. If
	 * the end of a shard was rolled back, it is run once more.
	 */
	void over(String job, Instant planned) {
		this.scheduler.atomically(() -> {
			int attempts = ScheduledWork.shards()
				.stream()
				.mapToInt((shard) -> this.runs.getOrDefault(describe(shard, planned), List.of()).size())
				.sum();
			Integer before = this.over.put(planned, attempts);
			if (before != null && before == attempts) {
				this.journal.violation(describe(job, planned) + " is reported as over twice",
						this.scheduler.requireCurrent());
			}
			return planned;
		});
	}

	/**
	 * Check that the planned times that a run has settled were reported before it began.
	 */
	private void requireReported(JobRun run) {
		Instant after = run.after();
		boolean each = run.shards() > 0 || ScheduledWork.ofEachPeriod().contains(ScheduledWork.job(run.jobId()));
		if (run.attempt() > 1 || after == null || !each) {
			return;
		}
		Duration period = ScheduledWork.period(run.jobId());
		for (Instant at = after.plus(period); at.isBefore(run.plannedAt()); at = at.plus(period)) {
			if (isToBeReported(run.jobId(), at) && !this.logged.contains(describe(run.jobId(), at))) {
				this.journal.violation("%s is not accounted for when that for %s begins"
					.formatted(describe(run.jobId(), at), run.plannedAt()), this.scheduler.requireCurrent());
			}
		}
	}

	/**
	 * Whether a planned time is one of a job: a shard takes part in those that have begun
	 * with it. A beginning that was abandoned does not stay in the record.
	 */
	private boolean isToBeReported(String job, Instant planned) {
		int shard = ShardNames.numberOf(job);
		return shard == 0
				|| (shardsOf(planned) >= shard && !this.logged.contains(describe(ScheduledWork.SHARDED, planned)));
	}

	/**
	 * Called when an instance logs a report: no other one does, and what was skipped does
	 * not run.
	 */
	void logged(AccountLine line) {
		this.scheduler.atomically(() -> {
			Duration period = ScheduledWork.period(line.job());
			for (Instant at = line.from(); !at.isAfter(line.to()); at = at.plus(period)) {
				String planned = describe(line.job(), at);
				if (!this.logged.add(planned)) {
					this.journal.violation(planned + " is logged twice: " + line, this.scheduler.requireCurrent());
				}
				if (line.skipped()) {
					this.skipped.add(planned);
					this.journal.count("reported as skipped: " + ScheduledWork.job(line.job()));
				}
				if (this.runs.containsKey(planned)) {
					this.journal.violation(planned + " runs, and is logged: " + line, this.scheduler.requireCurrent());
				}
			}
			return line;
		});
	}

	/**
	 * Called when an instance reports a planned time as missed: no other one does, and it
	 * does not run, neither before nor after that.
	 */
	void missed(String job, Instant plannedAt) {
		this.scheduler.atomically(() -> {
			String planned = describe(job, plannedAt);
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

	/**
	 * Remember what the store recorded, before later runs take its place.
	 */
	private void remember(String job) {
		this.stored.apply(job).forEach((run) -> {
			this.recorded.merge(describe(run), run, PlannedTimes::later);
			if (run.attempt() > 1) {
				this.repeated.add(describe(run));
			}
			else {
				// One that was abandoned under one id can have run under another one
				this.settling.computeIfAbsent(job, (key) -> new TreeMap<>())
					.merge(run.plannedAt(), run,
							(known, other) -> (other.outcome() == Outcome.ABANDONED && other.token() != known.token())
									? known : other);
				this.seen.putIfAbsent(describe(run), this.scheduler.now());
			}
		});
	}

	private static JobRun later(JobRun known, JobRun run) {
		return (run.attempt() >= known.attempt()) ? run : known;
	}

	private static String describe(JobRun run) {
		return describe(run.jobId(), run.plannedAt());
	}

	private static String describe(String id, Instant plannedAt) {
		return ScheduledWork.job(id) + " planned for " + plannedAt;
	}

	private List<JobRun> stored(JobRun run) {
		return this.stored.apply(ScheduledWork.job(run.jobId()))
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
		remember(ScheduledWork.SHARDED);
		Stream.of(ScheduledWork.ofEachPeriod(), ScheduledWork.shards(), List.of(ScheduledWork.SHARDED))
			.flatMap(List::stream)
			.forEach(this::requireAccount);
		this.counted = now;
		ScheduledWork.longestPauses().forEach((job, longest) -> requireRuns(job, from, longest.toNanos()));
	}

	/**
	 * Check that each planned time between two entries of the record was reported, if the
	 * instance of the second one was there to do that.
	 */
	private void requireAccount(String job) {
		NavigableMap<Instant, JobRun> entries = new TreeMap<>(this.settling.getOrDefault(job, new TreeMap<>()));
		// An abandoned grant settles nothing, unless an attempt of its firing crashed
		// before
		entries.values()
			.removeIf((run) -> run.outcome() == Outcome.ABANDONED && !this.repeated.contains(describe(run)));
		if (entries.isEmpty()) {
			return;
		}
		Duration period = ScheduledWork.period(job);
		for (Instant at = entries.firstKey(); at.isBefore(entries.lastKey()); at = at.plus(period)) {
			JobRun settled = entries.ceilingEntry(at).getValue();
			Long gone = this.gone.get(settled.instance());
			long seen = this.seen.getOrDefault(describe(settled), 0L);
			boolean reports = (gone == null || gone > seen + REPORTED.toNanos())
					&& this.scheduler.now() > seen + SOON.toNanos();
			if (!entries.containsKey(at) && isToBeReported(job, at) && !this.logged.contains(describe(job, at))
					&& reports) {
				this.journal.violation("%s is not accounted for by %s".formatted(describe(job, at), settled));
			}
		}
	}

	/**
	 * Called when an instance is killed, or begins to shut down.
	 */
	void gone(String instance) {
		this.gone.put(instance, this.scheduler.now());
	}

	private void countMissed(String job, Instant now) {
		Duration period = ScheduledWork.PERIOD;
		Instant from = (this.counted != null) ? this.counted : now.minusNanos(this.scheduler.elapsedNanos());
		long first = from.toEpochMilli() / period.toMillis() + 1;
		for (long number = first; number <= now.toEpochMilli() / period.toMillis(); number++) {
			String planned = describe(job, Instant.ofEpochMilli(number * period.toMillis()));
			this.journal.count((this.runs.containsKey(planned) ? "run: " : "not run: ") + job);
		}
	}

	private void requireRuns(String job, long from, long longest) {
		long before = from;
		List<Run> seen = this.runs.values()
			.stream()
			.flatMap(List::stream)
			.filter((run) -> ScheduledWork.job(run.run.jobId()).equals(job) && run.began > from)
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
	 * Check that no planned time whose crashed runs are repeated was begun and lost. An
	 * attempt whose answer was lost counts, although it never began.
	 * @param before when it was begun at the latest
	 */
	void requireRepeated(long before) {
		this.runs.values()
			.stream()
			.map((attempts) -> ScheduledWork.job(attempts.get(0).run.jobId()))
			.distinct()
			.forEach(this::remember);
		this.runs.forEach((planned, attempts) -> {
			Run last = attempts.get(attempts.size() - 1);
			boolean ends = !last.rerun || last.began > before || attempts.stream().anyMatch((run) -> run.done);
			JobRun recorded = this.recorded.get(planned);
			boolean spent = recorded != null && recorded.attempt() >= JobDecision.MOST_ATTEMPTS
					&& recorded.outcome() != Outcome.ABANDONED;
			if (!ends && !spent && !ScheduledWork.isSurplus(last.run.jobId())) {
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
