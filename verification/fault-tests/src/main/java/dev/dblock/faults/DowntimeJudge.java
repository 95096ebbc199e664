package dev.dblock.faults;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

import dev.dblock.faults.JobEvent.What;

import org.springframework.scheduling.support.CronExpression;

/**
 * Looks for broken guarantees about planned times at which no instance was running:
 * before the first start, and while all instances were down.
 */
final class DowntimeJudge {

	/**
	 * Maximum time from the readiness of the first instance to the start of the latest
	 * missed run.
	 */
	private static final Duration LIMIT = Duration.ofSeconds(10);

	private final JobHistory history;

	private final Map<String, List<JobRunSeen>> byPlannedTime;

	/** The attempts whose work began. */
	private final List<JobRunSeen> runs;

	private final List<JobEvent> starts;

	DowntimeJudge(JobHistory history, Map<String, List<JobRunSeen>> byPlannedTime) {
		this.history = history;
		this.byPlannedTime = byPlannedTime;
		this.runs = byPlannedTime.values().stream().flatMap(List::stream).filter(JobRunSeen::hasBegun).toList();
		this.starts = history.events().stream().filter((event) -> event.what() == What.STARTING).toList();
	}

	List<Finding> findings() {
		List<String> wrong = new ArrayList<>();
		List<String> missing = new ArrayList<>();
		List<String> right = new ArrayList<>();
		List<String> overtaken = new ArrayList<>();
		for (Downtime downtime : downtimes()) {
			long latest = latest(downtime);
			wrong.addAll(wrongRuns(downtime, latest));
			if (isRun(downtime, latest)) {
				right.add(describe(downtime));
			}
			else if (isOvertaken(downtime, latest)) {
				overtaken.add(describe(downtime));
			}
			else if (!isDisturbed(downtime.ready(), downtime.ready() + LIMIT.toNanos())) {
				missing.add(describe(downtime));
			}
		}
		return List.of(Finding.rule("planned times before the first start that were run", beforeFirstStart()),
				Finding.rule("missed planned times that were run with SKIP, or with RUN and were not the latest",
						wrong),
				Finding.rule("latest missed planned times that were not run with RUN within 10 s of the first instance",
						missing),
				Finding.figure("latest missed planned times that were run with RUN", right),
				Finding.figure("latest missed planned times that the next one took over from at the start", overtaken));
	}

	private List<Downtime> downtimes() {
		return this.history.windows()
			.stream()
			.filter((window) -> window.kind().equals(JobCourses.ALL_DOWN))
			.filter((window) -> first(What.READY, window) != Long.MAX_VALUE)
			.map((window) -> new Downtime(window.beginNanos(), first(What.STARTING, window), first(What.READY, window)))
			.toList();
	}

	private long first(What what, Window window) {
		return this.history.events()
			.stream()
			.filter((event) -> event.what() == what)
			.mapToLong(JobEvent::nanos)
			.filter((nanos) -> nanos > window.beginNanos())
			.min()
			.orElse(Long.MAX_VALUE);
	}

	/**
	 * An instance whose clock is behind relies on its clock until it has received an
	 * answer from the server. If it crashes in such a run, any instance may repeat it.
	 */
	private List<String> beforeFirstStart() {
		return this.runs.stream()
			.filter(this::isBeforeFirstStart)
			.filter((run) -> this.byPlannedTime.getOrDefault(run.plannedTime(), List.of())
				.stream()
				.filter((attempt) -> attempt.attempt() < run.attempt())
				.allMatch(this::isBeforeFirstStart))
			.map(this::describe)
			.toList();
	}

	private boolean isBeforeFirstStart(JobRunSeen attempt) {
		return this.starts.stream()
			.filter((start) -> attempt.isOf(start.worker()))
			.limit(1)
			.mapToLong((start) -> Math.min(start.started(), this.history.millisOf(this.starts.get(0).nanos())))
			.anyMatch((start) -> attempt.planned() < start - JobJudge.BEFORE.toMillis());
	}

	private List<String> wrongRuns(Downtime downtime, long latest) {
		return this.runs.stream()
			.filter((run) -> isMissed(downtime, run.planned())
					&& !(run.job().equals(CronJobs.CATCH_UP) && run.planned() == latest))
			.map(this::describe)
			.toList();
	}

	private boolean isRun(Downtime downtime, long planned) {
		return this.runs.stream()
			.anyMatch((run) -> run.job().equals(CronJobs.CATCH_UP) && run.planned() == planned
					&& run.begun() < downtime.ready() + LIMIT.toNanos());
	}

	/**
	 * Return whether a later planned time took over. A planned time that comes while the
	 * missed one may still be run can be the latest, or take over from it.
	 */
	private boolean isOvertaken(Downtime downtime, long latest) {
		long until = this.history.millisOf(downtime.ready() + LIMIT.toNanos());
		return LongStream.iterate(next(latest), (time) -> time < until, DowntimeJudge::next)
			.anyMatch((time) -> isRun(downtime, time));
	}

	private boolean isDisturbed(long fromNanos, long toNanos) {
		return this.history.windows()
			.stream()
			.anyMatch((window) -> window.isForAll() && !window.kind().equals(JobCourses.ALL_DOWN)
					&& window.overlaps(fromNanos - JobJudge.RECOVERY.toNanos(), toNanos));
	}

	/**
	 * Return whether a planned time was missed for certain. There is a margin at both
	 * ends: a request that was granted when the last instance died is for a time before
	 * the end of the margin, and clocks differ.
	 */
	private boolean isMissed(Downtime downtime, long planned) {
		long nanos = this.history.nanosOf(planned);
		return nanos > downtime.begin() + JobJudge.BEFORE.toNanos()
				&& nanos < downtime.start() - JobJudge.BEFORE.toNanos();
	}

	private long latest(Downtime downtime) {
		long latest = next(this.history.millisOf(downtime.begin() + JobJudge.BEFORE.toNanos()));
		for (long next = latest; isMissed(downtime, next); next = next(next)) {
			latest = next;
		}
		return latest;
	}

	private static long next(long millis) {
		ZonedDateTime next = CronExpression.parse(CronJobs.IN_GROUPS)
			.next(Instant.ofEpochMilli(millis).atZone(ZoneOffset.UTC));
		return Objects.requireNonNull(next).toInstant().toEpochMilli();
	}

	private String describe(JobRunSeen run) {
		return run.plannedTime() + ": " + run.describe(this.history);
	}

	private String describe(Downtime downtime) {
		long latest = latest(downtime);
		return "%s; all were down from %+d ms, the first was ready at %+d ms".formatted(Instant.ofEpochMilli(latest),
				this.history.millisOf(downtime.begin()) - latest, this.history.millisOf(downtime.ready()) - latest)
				+ this.runs.stream()
					.filter((run) -> run.job().equals(CronJobs.CATCH_UP) && run.begun() > downtime.begin()
							&& run.begun() < downtime.ready() + LIMIT.toNanos())
					.map((run) -> "\n" + describe(run))
					.collect(Collectors.joining());
	}

	/**
	 * Time during which all instances were down, in {@code nanoTime}.
	 *
	 * @param begin when the last instance had ended
	 * @param start when the first instance scheduled its jobs again
	 * @param ready when the first instance was ready
	 */
	private record Downtime(long begin, long start, long ready) {
	}

}
