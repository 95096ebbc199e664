package dev.dblock.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import dev.dblock.faults.JobEvent.What;

/**
 * Judges the time between the runs of jobs with a fixed rate or a fixed delay.
 */
final class PeriodJudge {

	private static final double SHORTEST = 0.9;

	private static final double MEDIAN = 0.02;

	private static final double LONGEST_AFTER_KILL = 1.5;

	private final JobHistory history;

	PeriodJudge(JobHistory history) {
		this.history = history;
	}

	List<Finding> findings() {
		List<String> tooShort = new ArrayList<>();
		List<String> tooLong = new ArrayList<>();
		List<String> off = new ArrayList<>();
		List<String> stopped = new ArrayList<>();
		for (String job : List.of(PeriodicJobs.RATE, PeriodicJobs.DELAY)) {
			List<Span> gaps = gaps(job);
			gaps.stream()
				.filter((gap) -> !isDisturbed(gap) && periods(gap) < SHORTEST)
				.forEach((gap) -> tooShort.add(describe(job, gap)));
			gaps.stream()
				.filter((gap) -> !isDisturbed(gap) && isKilled(gap) && periods(gap) > LONGEST_AFTER_KILL)
				.forEach((gap) -> tooLong.add(describe(job, gap)));
			double[] periods = gaps.stream().mapToDouble(PeriodJudge::periods).sorted().toArray();
			double median = (periods.length > 0) ? periods[periods.length / 2] : 0;
			if (Math.abs(median - 1) > MEDIAN) {
				off.add(String.format(Locale.ROOT, "%s: %.3f periods", job, median));
			}
			Span end = new Span(last(job), this.history.judged().to());
			if (!isDisturbed(end) && periods(end) > LONGEST_AFTER_KILL) {
				stopped.add(describe(job, end));
			}
		}
		return List.of(Finding.rule("gaps shorter than 90 % of the period", tooShort),
				Finding.rule("jobs whose median gap is off by more than 2 %", off),
				Finding.rule("gaps longer than 1.5 periods after the one that ran last was killed", tooLong),
				Finding.rule("jobs that did not run in the last 1.5 periods", stopped),
				Finding.rule("processes that did not begin or did not end", this.history.stuck()));
	}

	/**
	 * Return the gaps between runs: from start to start for a fixed rate, and from end to
	 * start for a fixed delay.
	 */
	private List<Span> gaps(String job) {
		List<Span> gaps = new ArrayList<>();
		long last = 0;
		for (JobEvent event : this.history.events()) {
			if (event.job().equals(job) && event.nanos() < this.history.judged().to()) {
				if (event.what() == What.BEGUN && last > this.history.judged().from()) {
					gaps.add(new Span(last, event.nanos()));
				}
				last = (event.what() == from(job)) ? event.nanos() : last;
			}
		}
		return gaps;
	}

	/**
	 * Return when the last run began or, for a fixed delay, ended.
	 */
	private long last(String job) {
		return this.history.events()
			.stream()
			.filter((event) -> event.job().equals(job) && event.what() == from(job)
					&& event.nanos() < this.history.judged().to())
			.mapToLong(JobEvent::nanos)
			.max()
			.orElse(this.history.judged().from());
	}

	private static What from(String job) {
		return job.equals(PeriodicJobs.RATE) ? What.BEGUN : What.ENDED;
	}

	private static double periods(Span gap) {
		return (double) gap.nanos() / PeriodicJobs.PERIOD.toNanos();
	}

	private boolean isDisturbed(Span gap) {
		long before = PeriodicJobs.PERIOD.toNanos();
		return this.history.windows()
			.stream()
			.anyMatch((window) -> window.isForAll() && window.overlaps(gap.from() - before, gap.to()));
	}

	private boolean isKilled(Span gap) {
		return this.history.windows()
			.stream()
			.anyMatch((window) -> window.worker() > 0 && window.beginNanos() > gap.from()
					&& window.beginNanos() < gap.to());
	}

	private String describe(String job, Span gap) {
		return "%s: %,d ms before %s".formatted(job, Duration.ofNanos(gap.nanos()).toMillis(),
				Instant.ofEpochMilli(this.history.millisOf(gap.to())));
	}

	String figures() {
		StringBuilder text = new StringBuilder();
		for (String job : List.of(PeriodicJobs.RATE, PeriodicJobs.DELAY)) {
			double[] periods = gaps(job).stream().mapToDouble(PeriodJudge::periods).sorted().toArray();
			double[] killed = gaps(job).stream().filter(this::isKilled).mapToDouble(PeriodJudge::periods).toArray();
			if (periods.length > 0) {
				text.append(String.format(Locale.ROOT,
						"%s: %d gaps, in periods: shortest %.3f, median %.3f, longest %.3f; with a kill %s%n", job,
						periods.length, periods[0], periods[periods.length / 2], periods[periods.length - 1],
						Arrays.toString(killed)));
			}
		}
		return text.toString().strip();
	}

}
