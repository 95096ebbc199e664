package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import dev.dblock.faults.JobEvent.What;

/**
 * Looks for planned times that are not accounted for exactly once: they ran, an earlier
 * run was in progress, or one instance reported them as missed.
 */
final class AccountJudge {

	/** How long an instance must live after a grant to have reported what was missed. */
	private static final Duration REPORT = Duration.ofSeconds(2);

	private final JobHistory history;

	private final Map<String, List<JobRunSeen>> runs;

	private final Map<String, Long> missed;

	AccountJudge(JobHistory history, List<JobRunSeen> runs) {
		this.history = history;
		this.runs = runs.stream().collect(Collectors.groupingBy(JobRunSeen::job));
		this.missed = history.events()
			.stream()
			.filter((event) -> event.what() == What.MISSED)
			.collect(Collectors.groupingBy((event) -> JobRunSeen.plannedTime(event.job(), event.planned()),
					Collectors.counting()));
	}

	List<Finding> findings() {
		return List.of(
				Finding.rule("planned times that were reported as missed more than once",
						this.missed.entrySet()
							.stream()
							.filter((planned) -> planned.getValue() > 1)
							.map(Map.Entry::getKey)
							.toList()),
				Finding.rule("planned times that were reported as missed, and were run",
						this.runs.values()
							.stream()
							.flatMap(List::stream)
							.filter((run) -> run.hasBegun() && this.missed.containsKey(run.plannedTime()))
							.map((run) -> run.plannedTime() + ": " + run.describe(this.history))
							.toList()),
				Finding.rule("planned times that are not accounted for", unaccounted()),
				Finding.figure("planned times that were reported as missed", this.missed.keySet().stream().toList()));
	}

	private List<String> unaccounted() {
		List<String> cases = new ArrayList<>();
		this.history.jobs().forEach((job) -> addUnaccounted(cases, job, 1));
		Stream.of(CronJobs.SKIPPED + CronJobs.RARE, CronJobs.REPEATED + CronJobs.RARE)
			.forEach((job) -> addUnaccounted(cases, job, CronJobs.RARE_SECONDS));
		return cases;
	}

	private void addUnaccounted(List<String> cases, String job, int seconds) {
		List<JobRunSeen> ofJob = this.runs.getOrDefault(job, List.of());
		Set<Long> granted = new HashSet<>();
		ofJob.stream()
			.filter((run) -> !run.isAbandoned() || run.hasBegun())
			.forEach((run) -> granted.add(run.planned()));
		this.history.plannedTimes(seconds)
			.filter((time) -> !granted.contains(time) && !this.missed.containsKey(JobRunSeen.plannedTime(job, time))
					&& !isInRun(ofJob, time) && isReported(ofJob, time))
			.forEach((time) -> cases.add(JobRunSeen.plannedTime(job, time)));
	}

	/**
	 * Return whether an earlier run was in progress, as the record shows it.
	 */
	private static boolean isInRun(List<JobRunSeen> runs, long planned) {
		return runs.stream()
			.anyMatch((run) -> run.planned() < planned && run.recorded() != null && run.recorded().ended() > planned);
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
		long to = this.history.nanosOf(settling.started()) + REPORT.toNanos();
		return this.history.windows()
			.stream()
			.noneMatch((window) -> (window.worker() > 0 && settling.isOf(window.worker()) && window.overlaps(from, to))
					|| (window.kind().equals(JobCourses.ALL_DOWN) && window.beginNanos() > from
							&& window.beginNanos() < to));
	}

}
