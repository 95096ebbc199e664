package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.IntPredicate;

import dev.dblock.faults.JobEvent.What;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the judge of fixed rates and fixed delays finds.
 */
class PeriodJudgeTests {

	private static final String SHORT = "gaps shorter than 90 % of the period";

	private static final String MEDIAN = "jobs whose median gap is off by more than 2 %";

	private static final String LONG = "gaps longer than 1.5 periods after the one that ran last was killed";

	private static final String STOPPED = "jobs that did not run in the last 1.5 periods";

	private static final long END = 60_000;

	private final List<JobEvent> events = new ArrayList<>();

	private final List<Window> windows = new ArrayList<>();

	private static long nanos(long millis) {
		return Duration.ofMillis(millis).toNanos();
	}

	private void run(String job, long millis) {
		this.events.add(new JobEvent(What.BEGUN, 1, 1, job, millis, 1, millis, millis, nanos(millis)));
		this.events.add(new JobEvent(What.ENDED, 1, 1, job, millis, 1, millis, millis, nanos(millis + 1)));
	}

	private void runEach(String job, long period, IntPredicate which) {
		for (int number = 1; number * period < END; number++) {
			if (which.test(number)) {
				run(job, number * period);
			}
		}
	}

	private void runBoth(IntPredicate which) {
		runEach(PeriodicJobs.RATE, 2000, which);
		runEach(PeriodicJobs.DELAY, 2001, which);
	}

	private void kill(long millis) {
		this.windows.add(new Window(JobCourses.KILLED, 1, nanos(millis), nanos(millis + 9000)));
	}

	private List<String> broken() {
		this.events.sort(Comparator.comparing(JobEvent::nanos));
		return new PeriodJudge(new JobHistory(this.events, List.of(), this.windows, List.of(), JobHistory.Jobs.none(),
				new Span(nanos(2500), nanos(END)), 0))
			.findings()
			.stream()
			.filter((finding) -> !finding.passed())
			.map(Finding::what)
			.toList();
	}

	@Test
	void regularRunsPass() {
		runBoth((number) -> true);
		assertThat(broken()).isEmpty();
	}

	@Test
	void shortGapIsFound() {
		runBoth((number) -> true);
		run(PeriodicJobs.RATE, 20_500);
		assertThat(broken()).containsExactly(SHORT);
	}

	@Test
	void shortGapIsExcusedByAFaultOfTheServers() {
		runBoth((number) -> true);
		run(PeriodicJobs.RATE, 20_500);
		this.windows.add(new Window("outage", 0, nanos(18_000), nanos(20_000)));
		assertThat(broken()).isEmpty();
	}

	@Test
	void delayIsMeasuredFromTheEndOfTheRunBefore() {
		runEach(PeriodicJobs.RATE, 2000, (number) -> true);
		runEach(PeriodicJobs.DELAY, 2101, (number) -> true);
		assertThat(broken()).containsExactly(MEDIAN);
	}

	@Test
	void killOfTheOneThatRanLastMayDelayTheNextRunByHalfAPeriod() {
		runBoth((number) -> number != 10);
		kill(19_000);
		assertThat(broken()).containsExactly(LONG);
	}

	@Test
	void gapWithoutAKillIsJudgedByTheMedian() {
		runBoth((number) -> number != 10);
		assertThat(broken()).isEmpty();
	}

	@Test
	void jobThatNeverRunsAgainIsFound() {
		runBoth((number) -> number < 10);
		kill(18_500);
		assertThat(broken()).containsExactly(STOPPED);
	}

	@Test
	void jobThatNeverRunsIsFound() {
		assertThat(broken()).containsExactly(MEDIAN, STOPPED);
	}

}
