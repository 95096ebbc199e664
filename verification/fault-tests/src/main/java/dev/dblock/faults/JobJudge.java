package dev.dblock.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import dev.dblock.job.JobDecision;
import dev.dblock.job.ShardNames;

/**
 * Looks for broken guarantees in the observations of jobs with cron expressions.
 */
final class JobJudge {

	/**
	 * Maximum time for a request to an unreachable server, and for a firing after it.
	 */
	static final Duration RECOVERY = Duration.ofSeconds(10);

	static final Duration BEFORE = Duration.ofSeconds(1);

	/** Limit for a repetition after the lease of a crashed run. */
	private static final Duration REPETITION = Duration.ofSeconds(3);

	/** A pause that is longer than lease and allowance by this much ends a run. */
	private static final Duration LOST = Duration.ofSeconds(1);

	static final Duration TAKEN_AFTER_CRASH = Duration.ofSeconds(CronJobs.LEASE_SECONDS).plus(LockName.CLOCK_ALLOWANCE);

	/** Maximum offset of the clock of a server. */
	private static final long OFF_MILLIS = 100;

	private static final long SECOND = 1000;

	private final JobHistory history;

	private final List<JobRunSeen> runs;

	private final Map<String, List<JobRunSeen>> byPlannedTime;

	JobJudge(JobHistory history) {
		this.history = history;
		this.runs = JobRunSeen.in(history);
		this.byPlannedTime = this.runs.stream()
			.collect(Collectors.groupingBy(JobRunSeen::plannedTime, LinkedHashMap::new, Collectors.toList()));
	}

	List<Finding> findings() {
		List<Finding> findings = new ArrayList<>(ofRuns());
		findings.addAll(new DowntimeJudge(this.history, this.byPlannedTime).findings());
		findings.addAll(new AccountJudge(this.history, this.runs).findings());
		return findings;
	}

	private List<Finding> ofRuns() {
		return List.of(Finding.rule("planned times with SKIP that were run twice", runTwice()),
				Finding.rule("attempts that were run twice", attemptsRunTwice()),
				Finding.rule("planned times with RERUN that were repeated although they were finished", repeated()),
				Finding.rule("planned times that were attempted more than three times", attempts(
						(attempts) -> attempts.stream().anyMatch((run) -> run.attempt() > JobDecision.MOST_ATTEMPTS))),
				Finding.rule("planned times with RERUN that were begun and lost", lost()),
				Finding.rule("crashed runs with RERUN that were not repeated within lease + allowance + 3 s",
						notRepeated()),
				Finding.rule("planned times that were missed though nothing happened", missed(true)),
				Finding.figure("planned times that were missed during outages", missed(false)),
				Finding.rule("planned times each " + CronJobs.RARE_SECONDS + " s that were missed during outages",
						missedRare()),
				Finding.rule("runs that began more than 250 ms before their planned time", early()),
				Finding.rule("processes that did not begin or did not end", this.history.stuck()),
				Finding.figure("crashed runs that were repeated", attempts(
						(attempts) -> attempts.stream().anyMatch((run) -> run.attempt() > 1 && run.hasBegun()))),
				Finding.figure("shards that were run",
						this.runs.stream()
							.filter((run) -> run.hasBegun() && ShardNames.numberOf(run.job()) > 0)
							.map(JobRunSeen::plannedTime)
							.toList()),
				Finding.figure("grants that were abandoned",
						this.runs.stream()
							.filter(JobRunSeen::isAbandoned)
							.map((run) -> run.plannedTime() + ": " + run.describe(this.history))
							.toList()));
	}

	private List<String> attempts(Predicate<List<JobRunSeen>> broken) {
		return this.byPlannedTime.entrySet()
			.stream()
			.filter((each) -> broken.test(each.getValue()))
			.map((each) -> describe(each.getKey(), each.getValue()))
			.toList();
	}

	private String describe(String plannedTime, List<JobRunSeen> attempts) {
		return plannedTime
				+ attempts.stream().map((run) -> "\n" + run.describe(this.history)).collect(Collectors.joining())
				+ circumstances(attempts.get(0).planned());
	}

	private String circumstances(long planned) {
		long nanos = this.history.nanosOf(planned);
		return this.history.windows()
			.stream()
			.filter((window) -> window.overlaps(nanos - RECOVERY.toNanos(), nanos + RECOVERY.toNanos()))
			.map((window) -> "\nfault: %s%s from %+d to %+d ms".formatted(window.kind(),
					(window.worker() > 0) ? " (worker " + window.worker() + ")" : "",
					this.history.millisOf(window.beginNanos()) - planned,
					this.history.millisOf(window.endNanos()) - planned))
			.collect(Collectors.joining());
	}

	private List<String> runTwice() {
		return attempts((attempts) -> !attempts.get(0).isRepeatable()
				&& attempts.stream().filter(JobRunSeen::hasBegun).count() > 1);
	}

	private List<String> attemptsRunTwice() {
		return attempts((attempts) -> attempts.stream()
			.filter(JobRunSeen::hasBegun)
			.collect(Collectors.groupingBy(JobRunSeen::attempt, Collectors.counting()))
			.values()
			.stream()
			.anyMatch((count) -> count > 1));
	}

	private List<String> repeated() {
		return attempts((attempts) -> attempts.stream()
			.anyMatch((run) -> run.isFinished()
					&& attempts.stream().anyMatch((other) -> other.hasBegun() && other.attempt() > run.attempt())));
	}

	private List<String> lost() {
		return attempts((attempts) -> {
			JobRunSeen last = attempts.get(attempts.size() - 1);
			return last.isRepeatable() && this.history.isJudged(last.planned())
					&& attempts.stream().noneMatch(JobRunSeen::isDone) && last.attempt() < JobDecision.MOST_ATTEMPTS
					&& !isAbandonedUnused(last);
		});
	}

	/**
	 * Find crashed runs that were not repeated in time. A run crashes when its worker is
	 * killed, or is stopped for longer than its lease.
	 */
	private List<String> notRepeated() {
		List<String> cases = new ArrayList<>();
		for (Window stop : this.history.windows()) {
			long limit = stop.beginNanos() + TAKEN_AFTER_CRASH.plus(REPETITION).toNanos();
			long lost = stop.beginNanos() + TAKEN_AFTER_CRASH.plus(LOST).toNanos();
			boolean crashes = stop.worker() > 0 && (stop.kind().equals(JobCourses.KILLED) || stop.endNanos() >= lost);
			if (crashes && limit < this.history.judged().to() && !isDisturbed(stop.beginNanos(), limit)) {
				this.runs.stream()
					.filter((run) -> run.isRepeatable() && run.isOf(stop.worker()) && isCrashedBy(run, stop)
							&& run.attempt() < JobDecision.MOST_ATTEMPTS)
					.filter((run) -> next(run) > limit)
					.forEach(
							(run) -> cases.add("%d ms after the crash: %s".formatted(
									(next(run) != Long.MAX_VALUE)
											? Duration.ofNanos(next(run) - stop.beginNanos()).toMillis() : -1,
									describe(run.plannedTime(), attempts(run)))));
			}
		}
		return cases;
	}

	private boolean isCrashedBy(JobRunSeen run, Window stop) {
		return this.history.nanosOf(run.started() + OFF_MILLIS) < stop.beginNanos()
				&& run.free(this.history) == Long.MAX_VALUE && !run.isFinished() && !isAbandonedLongBefore(run, stop)
				&& !isStoppedBetween(run, stop.beginNanos());
	}

	/**
	 * Return whether an instance did not use a grant that it got too late, and was not
	 * stopped before its lease was over.
	 */
	private boolean isAbandonedLongBefore(JobRunSeen run, Window stop) {
		return isAbandonedUnused(run)
				&& this.history.nanosOf(run.started()) + TAKEN_AFTER_CRASH.toNanos() < stop.beginNanos();
	}

	private static boolean isAbandonedUnused(JobRunSeen run) {
		return run.isAbandoned() && !run.hasBegun() && run.attempt() == 1;
	}

	/**
	 * Return whether an earlier stop had already ended a run when its worker was stopped.
	 */
	private boolean isStoppedBetween(JobRunSeen run, long nanos) {
		return this.history.windows()
			.stream()
			.anyMatch((window) -> window.worker() >= 0 && window.beginNanos() < nanos
					&& (window.isForAll() || run.isOf(window.worker()))
					&& window.endNanos() > this.history.nanosOf(run.started()));
	}

	private long next(JobRunSeen run) {
		return attempts(run).stream()
			.filter((other) -> other.attempt() > run.attempt())
			.mapToLong((other) -> this.history.nanosOf(other.started()))
			.min()
			.orElse(Long.MAX_VALUE);
	}

	private List<JobRunSeen> attempts(JobRunSeen run) {
		return this.byPlannedTime.getOrDefault(run.plannedTime(), List.of());
	}

	/**
	 * Find the planned times of the jobs of each second that were not run, although no
	 * run of the job held the lock.
	 * @param undisturbed whether to find those at which the servers were available;
	 * otherwise the others
	 */
	private List<String> missed(boolean undisturbed) {
		List<String> cases = new ArrayList<>();
		for (String job : this.history.jobs().shortOnes()) {
			cases.addAll(missed(job, 1, undisturbed));
		}
		return cases;
	}

	private List<String> missedRare() {
		return this.history.jobs()
			.rareOnes()
			.stream()
			.flatMap((job) -> missed(job, CronJobs.RARE_SECONDS, false).stream())
			.toList();
	}

	private List<String> missed(String job, int seconds, boolean undisturbed) {
		List<String> cases = new ArrayList<>();
		List<JobRunSeen> ofJob = this.runs.stream().filter((run) -> run.job().equals(job)).toList();
		Map<Long, List<JobRunSeen>> planned = ofJob.stream().collect(Collectors.groupingBy(JobRunSeen::planned));
		this.history.plannedTimes(seconds).forEach((time) -> {
			long nanos = this.history.nanosOf(time);
			boolean seen = planned.getOrDefault(time, List.of())
				.stream()
				.anyMatch((run) -> !run.isAbandoned() || isStoppedBeforeWork(run));
			boolean disturbed = isDisturbed(nanos - BEFORE.toNanos(), nanos + BEFORE.toNanos());
			if (!seen && disturbed != undisturbed && !isDown(nanos) && !isOverlapped(ofJob, time)
					&& !this.history.isPaused(job, time)) {
				cases.add(job + " at " + Instant.ofEpochMilli(time) + around(ofJob, time).stream()
					.map((run) -> "\n" + Instant.ofEpochMilli(run.planned()) + ": " + run.describe(this.history))
					.collect(Collectors.joining()) + circumstances(time));
			}
		});
		return cases;
	}

	private static List<JobRunSeen> around(List<JobRunSeen> runs, long planned) {
		return runs.stream().filter((run) -> Math.abs(run.planned() - planned) <= 2 * SECOND).toList();
	}

	/**
	 * Return whether a run of an earlier planned time held the lock when a planned time
	 * was due, or was granted the lock so late that it held it when the planned time was
	 * requested.
	 */
	private boolean isOverlapped(List<JobRunSeen> runs, long planned) {
		long due = this.history.nanosOf(planned);
		return runs.stream()
			.anyMatch((run) -> run.planned() < planned
					&& this.history.nanosOf(run.started() - OFF_MILLIS) < due + BEFORE.toNanos()
					&& run.free(this.history) > due && isLatestBefore(runs, run, due));
	}

	/**
	 * Return whether the instance of an abandoned grant was stopped while the lease
	 * lasted. It was too late for the work when it went on, and so was the next planned
	 * time of another instance, which passes over the abandoned one.
	 */
	private boolean isStoppedBeforeWork(JobRunSeen run) {
		long granted = this.history.nanosOf(run.started() - OFF_MILLIS);
		return this.history.windows()
			.stream()
			.anyMatch((window) -> window.worker() > 0 && run.isOf(window.worker())
					&& window.overlaps(granted, granted + TAKEN_AFTER_CRASH.toNanos()));
	}

	/**
	 * If the end of a run is not known, its lock was free before it was granted again.
	 */
	private boolean isLatestBefore(List<JobRunSeen> runs, JobRunSeen run, long due) {
		return runs.stream()
			.noneMatch((other) -> other.started() > run.started() && this.history.nanosOf(other.started()) < due);
	}

	/**
	 * Return whether no instance was running. Such times are judged separately.
	 */
	private boolean isDown(long nanos) {
		return this.history.windows()
			.stream()
			.anyMatch((window) -> window.kind().equals(JobCourses.ALL_DOWN)
					&& window.overlaps(nanos - BEFORE.toNanos(), nanos + BEFORE.toNanos()));
	}

	private boolean isDisturbed(long fromNanos, long toNanos) {
		return this.history.windows()
			.stream()
			.anyMatch((window) -> window.isForAll() && window.overlaps(fromNanos - RECOVERY.toNanos(), toNanos));
	}

	private List<String> early() {
		return this.runs.stream()
			.filter((run) -> run.started() < run.planned() - JobDecision.EARLIEST || (run.hasBegun()
					&& this.history.millisOf(run.begun()) < run.planned() - JobDecision.EARLIEST - OFF_MILLIS))
			.map((run) -> run.plannedTime() + ": " + run.describe(this.history))
			.toList();
	}

	/**
	 * Describe how many planned times were run, and how long after they were due.
	 */
	String figures() {
		long[] late = this.runs.stream()
			.filter((run) -> run.attempt() == 1 && run.hasBegun() && this.history.jobs().shortOnes().contains(run.job())
					&& this.history.isJudged(run.planned()))
			.mapToLong((run) -> this.history.millisOf(run.begun()) - run.planned())
			.sorted()
			.toArray();
		return (late.length == 0) ? "nothing was run"
				: "%,d planned times were run, half of them within %,d ms, all within %,d ms".formatted(late.length,
						late[late.length / 2], late[late.length - 1]);
	}

}
