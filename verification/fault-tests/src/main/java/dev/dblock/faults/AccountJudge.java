package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import dev.dblock.faults.JobEvent.What;
import dev.dblock.job.ShardNames;

/**
 * Looks for planned times that are not accounted for exactly once: they ran, or one
 * instance reported them as missed or as skipped.
 */
final class AccountJudge {

	/** How long an instance must live after a grant to have reported what was missed. */
	private static final Duration REPORT = Duration.ofSeconds(2);

	/** The same after a grant whose answer was lost: its lease has to end first. */
	private static final Duration REPORT_OF_LOST = JobJudge.TAKEN_AFTER_CRASH.plusSeconds(10);

	private final JobHistory history;

	private final Map<String, List<JobRunSeen>> runs;

	private final Map<String, Long> missed;

	private final Map<String, Long> skipped;

	AccountJudge(JobHistory history, List<JobRunSeen> runs) {
		this.history = history;
		this.runs = runs.stream().collect(Collectors.groupingBy(JobRunSeen::job));
		this.missed = reports(What.MISSED);
		this.skipped = reports(What.SKIPPED);
	}

	private Map<String, Long> reports(What what) {
		return this.history.events()
			.stream()
			.filter((event) -> event.what() == what)
			.collect(Collectors.groupingBy((event) -> JobRunSeen.plannedTime(event.job(), event.planned()),
					Collectors.counting()));
	}

	List<Finding> findings() {
		return List.of(Finding.rule("planned times that were reported as missed more than once", twice(this.missed)),
				Finding.rule("planned times that were reported as skipped more than once", twice(this.skipped)),
				Finding.rule("planned times that were reported as missed and as skipped",
						this.missed.keySet().stream().filter(this.skipped::containsKey).toList()),
				Finding.rule("planned times that were reported as missed, and were run", andRun(this.missed)),
				Finding.rule("planned times that were reported as skipped, and were run", andRun(this.skipped)),
				Finding.rule("planned times that are not accounted for", unaccounted()),
				Finding.figure("planned times that were reported as missed", this.missed.keySet().stream().toList()),
				Finding.figure("planned times that were reported as skipped", planned(this.skipped)));
	}

	private static List<String> twice(Map<String, Long> reports) {
		return reports.entrySet().stream().filter((planned) -> planned.getValue() > 1).map(Map.Entry::getKey).toList();
	}

	private List<String> andRun(Map<String, Long> reports) {
		return this.runs.values()
			.stream()
			.flatMap(List::stream)
			.filter((run) -> run.hasBegun() && reports.containsKey(run.plannedTime()))
			.map((run) -> run.plannedTime() + ": " + run.describe(this.history))
			.toList();
	}

	/**
	 * Return those of some reports whose job is planned for each second.
	 */
	private List<String> planned(Map<String, Long> reports) {
		return this.history.jobs()
			.eachSecond()
			.flatMap((job) -> this.history.plannedTimes(1).mapToObj((planned) -> JobRunSeen.plannedTime(job, planned)))
			.filter(reports::containsKey)
			.toList();
	}

	private List<String> unaccounted() {
		List<String> cases = new ArrayList<>();
		if (!this.history.jobs().accounted()) {
			return cases;
		}
		this.history.jobs().eachSecond().forEach((job) -> addUnaccounted(cases, job, this.history.plannedTimes(1)));
		this.history.jobs()
			.rareOnes()
			.forEach((job) -> addUnaccounted(cases, job, this.history.plannedTimes(CronJobs.RARE_SECONDS)));
		this.history.jobs().shardedOnes().forEach((job) -> addUnaccountedShards(cases, job));
		return cases;
	}

	/**
	 * The job accounts for planned times that have not begun, and each shard for those
	 * that have.
	 */
	private void addUnaccountedShards(List<String> cases, String job) {
		addUnaccounted(cases, job, this.history.plannedTimes(1));
		Set<Long> begun = this.runs.getOrDefault(job, List.of())
			.stream()
			.filter((run) -> !run.isAbandoned())
			.map(JobRunSeen::planned)
			.collect(Collectors.toSet());
		IntStream.rangeClosed(1, CronJobs.SHARDS)
			.forEach((number) -> addUnaccounted(cases, ShardNames.of(job, number),
					this.history.plannedTimes(1).filter(begun::contains)));
	}

	private void addUnaccounted(List<String> cases, String job, LongStream planned) {
		List<JobRunSeen> ofJob = this.runs.getOrDefault(job, List.of());
		Set<Long> granted = new HashSet<>();
		ofJob.stream()
			.filter((run) -> !run.isAbandoned() || run.hasBegun())
			.forEach((run) -> granted.add(run.planned()));
		planned.filter((time) -> !granted.contains(time) && isReported(ofJob, time))
			.mapToObj((time) -> JobRunSeen.plannedTime(job, time))
			.filter((time) -> !this.missed.containsKey(time) && !this.skipped.containsKey(time))
			.forEach(cases::add);
	}

	/**
	 * Return whether the planned time was settled by an instance that could report it.
	 */
	private boolean isReported(List<JobRunSeen> runs, long planned) {
		JobRunSeen settling = runs.stream()
			.filter((run) -> run.planned() > planned && run.attempt() == 1 && !run.isAbandoned())
			.findFirst()
			.orElse(null);
		if (settling == null || runs.stream().noneMatch((run) -> run.planned() < planned && !run.isAbandoned())) {
			return false;
		}
		long from = this.history.nanosOf(settling.started() - 1000);
		Duration report = settling.hasBegun() ? REPORT : REPORT_OF_LOST;
		long to = this.history.nanosOf(settling.started()) + report.toNanos();
		// Then the workers are stopped
		if (to > this.history.judged().to() + JobJudge.TAKEN_AFTER_CRASH.toNanos()) {
			return false;
		}
		return this.history.windows()
			.stream()
			.noneMatch((window) -> (window.worker() > 0 && settling.isOf(window.worker()) && window.overlaps(from, to))
					|| (window.kind().equals(JobCourses.ALL_DOWN) && window.beginNanos() > from
							&& window.beginNanos() < to));
	}

}
