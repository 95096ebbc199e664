package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

import dev.dblock.faults.JobEvent.What;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the judge of scheduled jobs finds. The clock of the machine begins with the epoch.
 */
class JobJudgeTests {

	private static final String SKIP = CronJobs.SKIPPED + 1;

	private static final String RERUN = CronJobs.REPEATED + 1;

	private static final int SECONDS = 60;

	private static final int CRASHED_AT = 20;

	/** From when to when no instance is there; planned times are at 30, 31 and 32 s. */
	private static final int DOWN_AT = 26;

	private static final int UP_AT = 41;

	private static final String WRONG = "missed planned times that were run with SKIP, or with RUN and were not the latest";

	private static final String MISSING = "latest missed planned times that were not run with RUN within 10 s of the first"
			+ " instance";

	private final List<JobEvent> events = new ArrayList<>();

	private static final String UNACCOUNTED = "planned times that are not accounted for";

	private final List<RecordedRun> recorded = new ArrayList<>();

	private final List<Window> windows = new ArrayList<>();

	private static long nanos(long millis) {
		return Duration.ofMillis(millis).toNanos();
	}

	private void event(What what, int worker, String job, long planned, int attempt, long started, long millis) {
		this.events.add(new JobEvent(what, worker, 1, job, planned, attempt, started, started, nanos(millis)));
	}

	private void record(int worker, String job, long planned, int attempt, long started, String outcome) {
		this.recorded.add(new RecordedRun(job, planned, attempt, started,
				(outcome.isEmpty() || outcome.equals("CRASHED")) ? 0 : started + 3, outcome, "worker-" + worker + "-1",
				started));
	}

	private void run(int worker, String job, long planned, int attempt, long started) {
		event(What.BEGUN, worker, job, planned, attempt, started, started + 1);
		event(What.ENDED, worker, job, planned, attempt, started, started + 2);
		event(What.RELEASED, worker, job, planned, attempt, started, started + 4);
		record(worker, job, planned, attempt, started, "SUCCEEDED");
	}

	private void runAll(int... exceptions) {
		for (String job : List.of(SKIP, RERUN)) {
			runEach(1, job, exceptions);
		}
		for (String job : List.of(CronJobs.SKIPPED + CronJobs.RARE, CronJobs.REPEATED + CronJobs.RARE)) {
			runEach(CronJobs.RARE_SECONDS, job, exceptions);
		}
	}

	private void runEach(int seconds, String job, int... exceptions) {
		for (int second = seconds; second <= SECONDS; second += seconds) {
			int planned = second;
			if (Arrays.stream(exceptions).noneMatch((exception) -> exception == planned)) {
				run(1 + second % 2, job, planned * 1000L, 1, planned * 1000L + 5);
			}
		}
	}

	/** A run of the first worker that does not end; its lease does after 3.5 s. */
	private void crash(String job) {
		long planned = CRASHED_AT * 1000L;
		event(What.BEGUN, 1, job, planned, 1, planned + 5, planned + 6);
		record(1, job, planned, 1, planned + 5, "CRASHED");
		this.windows.add(new Window(JobCourses.KILLED, 1, nanos(planned + 200), nanos(planned + 9000)));
	}

	/** No job runs at {@link #DOWN_AT} or later, but before {@link #UP_AT}. */
	private void allDown() {
		start(1, 900, 900);
		runAll(IntStream.rangeClosed(DOWN_AT, UP_AT).toArray());
		run(2, CronJobs.CATCH_UP, 2000, 1, 2005);
		this.windows.add(new Window(JobCourses.ALL_DOWN, 0, nanos(DOWN_AT * 1000L), nanos(UP_AT * 1000L + 500)));
		start(1, UP_AT * 1000L - 100, UP_AT * 1000L - 100);
		this.events.add(new JobEvent(What.READY, 1, 2, "-", 0, 0, 0, 0, nanos(UP_AT * 1000L)));
	}

	private void start(int worker, long millis, long ownClock) {
		this.events.add(new JobEvent(What.STARTING, worker, 1, "-", 0, 0, ownClock, 0, nanos(millis)));
	}

	/**
	 * Apart from the account, since most tests leave out the reports of what is missed.
	 */
	private List<String> broken() {
		return allBroken().stream().filter((rule) -> !rule.equals(UNACCOUNTED)).toList();
	}

	private List<String> allBroken() {
		this.events.sort(Comparator.comparing(JobEvent::nanos));
		JobHistory history = new JobHistory(this.events, this.recorded, this.windows, List.of(),
				new JobHistory.Jobs(List.of(SKIP, RERUN), List.of(),
						List.of(CronJobs.SKIPPED + CronJobs.RARE, CronJobs.REPEATED + CronJobs.RARE), List.of(), true),
				new Span(nanos(2500), nanos(SECONDS * 1000L)), 0);
		return new JobJudge(history).findings()
			.stream()
			.filter((finding) -> !finding.passed())
			.map(Finding::what)
			.toList();
	}

	@Test
	void oneRunForEachSecondPasses() {
		runAll();
		assertThat(broken()).isEmpty();
	}

	@Test
	void plannedTimeThatRanTwiceIsFound() {
		runAll();
		run(2, SKIP, 30_000, 1, 30_200);
		assertThat(broken()).contains("planned times with SKIP that were run twice", "attempts that were run twice");
	}

	@Test
	void secondWithoutRunIsFound() {
		runAll(30);
		assertThat(broken()).containsExactly("planned times that were missed though nothing happened");
	}

	@Test
	void grantThatWasAbandonedIsFoundUnlessItsInstanceWasStopped() {
		runAll(30);
		record(1, RERUN, 30_000, 1, 30_005, "ABANDONED");
		record(1, SKIP, 30_000, 1, 30_005, "ABANDONED");
		assertThat(broken()).containsExactly("planned times that were missed though nothing happened");
		this.windows.add(new Window("worker stopped", 2, nanos(30_020), nanos(33_000)));
		assertThat(broken()).containsExactly("planned times that were missed though nothing happened");
		this.windows.add(new Window("worker stopped", 1, nanos(30_020), nanos(33_000)));
		assertThat(broken()).isEmpty();
	}

	@Test
	void secondWithoutRunIsExcusedByServersThatWereAway() {
		runAll(28);
		this.windows.add(new Window("servers away", 0, nanos(25_000), nanos(31_000)));
		assertThat(broken()).isEmpty();
	}

	@Test
	void plannedTimeThatStaysDueIsNotExcusedByServersThatWereAway() {
		runAll(30);
		this.windows.add(new Window("servers away", 0, nanos(25_000), nanos(31_000)));
		assertThat(broken()).containsExactly("planned times each 15 s that were missed during outages");
	}

	@Test
	void killOfAWorkerExcusesOnlyWhatItsLeaseBlocked() {
		runAll(20, 21, 22, 23);
		crash(SKIP);
		run(2, RERUN, 20_000, 1, 20_005);
		assertThat(broken()).containsExactly("planned times that were missed though nothing happened");
		for (int second = 21; second <= 23; second++) {
			run(2, RERUN, second * 1000L, 1, second * 1000L + 5);
		}
		assertThat(broken()).isEmpty();
	}

	@Test
	void crashedRunThatIsNotRepeatedIsFound() {
		runAll(20, 21, 22, 23);
		for (int second = 20; second <= 23; second++) {
			run(2, SKIP, second * 1000L, 1, second * 1000L + 5);
		}
		crash(RERUN);
		assertThat(broken()).containsExactly("planned times with RERUN that were begun and lost",
				"crashed runs with RERUN that were not repeated within lease + allowance + 3 s");
		run(2, RERUN, 20_000, 2, 23_700);
		assertThat(broken()).isEmpty();
	}

	@Test
	void grantThatWasAbandonedLongBeforeTheKillNeedsNoRepetition() {
		runAll(20);
		run(2, SKIP, 20_000, 1, 20_005);
		this.recorded.add(new RecordedRun(RERUN, 20_000, 1, 22_900, 0, "ABANDONED", "worker-1-1", 1));
		this.windows.add(new Window("servers away", 0, nanos(19_500), nanos(22_800)));
		Window killed = new Window("worker killed", 1, nanos(34_000), nanos(39_000));
		this.windows.add(killed);
		assertThat(broken()).isEmpty();
		this.windows.remove(killed);
		this.windows.clear();
		this.windows.add(new Window("worker killed", 1, nanos(23_100), nanos(39_000)));
		assertThat(broken())
			.containsExactly("crashed runs with RERUN that were not repeated within lease + allowance + 3 s");
	}

	@Test
	void plannedTimeThatIsNotAccountedForIsFound() {
		runAll(30);
		this.windows.add(new Window("servers away", 0, nanos(25_000), nanos(31_000)));
		for (String job : List.of(SKIP, CronJobs.SKIPPED + CronJobs.RARE, CronJobs.REPEATED + CronJobs.RARE)) {
			run(2, job, 30_000, 1, 30_100);
		}
		assertThat(allBroken()).containsExactly(UNACCOUNTED);
		missed(RERUN, 30_000);
		assertThat(allBroken()).isEmpty();
		missed(RERUN, 30_000);
		assertThat(allBroken()).containsExactly("planned times that were reported as missed more than once");
	}

	@Test
	void instanceThatIsKilledLessThanTwoSecondsAfterAGrantNeedsToReportNothing() {
		runAll(30);
		for (String job : List.of(SKIP, CronJobs.SKIPPED + CronJobs.RARE, CronJobs.REPEATED + CronJobs.RARE)) {
			run(2, job, 30_000, 1, 30_005);
		}
		assertThat(allBroken()).contains(UNACCOUNTED);
		Window killed = new Window(JobCourses.KILLED, 2, nanos(32_700), nanos(40_000));
		this.windows.add(killed);
		assertThat(allBroken()).doesNotContain(UNACCOUNTED);
		this.windows.remove(killed);
		this.windows.add(new Window(JobCourses.KILLED, 2, nanos(33_100), nanos(40_000)));
		assertThat(allBroken()).contains(UNACCOUNTED);
	}

	@Test
	void plannedTimeThatWasRunAndReportedAsMissedIsFound() {
		runAll();
		missed(RERUN, 30_000);
		assertThat(allBroken()).containsExactly("planned times that were reported as missed, and were run");
	}

	private void missed(String job, long planned) {
		this.events.add(new JobEvent(What.MISSED, 1, 1, job, planned, 0, 0, 0, nanos(planned + 900)));
	}

	@Test
	void lateRepetitionIsFound() {
		runAll(20, 21, 22, 23, 24);
		for (int second = 20; second <= 24; second++) {
			run(2, SKIP, second * 1000L, 1, second * 1000L + 5);
		}
		crash(RERUN);
		run(2, RERUN, 20_000, 2, 26_900);
		assertThat(broken())
			.containsExactly("crashed runs with RERUN that were not repeated within lease + allowance + 3 s");
	}

	@Test
	void repetitionOfWhatWasFinishedIsFound() {
		runAll();
		run(2, RERUN, 30_000, 2, 30_200);
		assertThat(broken()).containsExactly("planned times with RERUN that were repeated although they were finished");
	}

	@Test
	void releaseWithoutAnAnswerIsNoEnd() {
		runAll(20);
		run(2, SKIP, 20_000, 1, 20_005);
		event(What.BEGUN, 1, RERUN, 20_000, 1, 20_005, 20_006);
		event(What.ENDED, 1, RERUN, 20_000, 1, 20_005, 20_007);
		event(What.RELEASED, 1, RERUN, 20_000, 1, 20_005, 20_900);
		record(1, RERUN, 20_000, 1, 20_005, "CRASHED");
		run(2, RERUN, 20_000, 2, 20_950);
		assertThat(broken()).isEmpty();
	}

	@Test
	void runAheadOfItsPlannedTimeIsFound() {
		runAll(30);
		run(1, SKIP, 30_000, 1, 29_740);
		run(1, RERUN, 30_000, 1, 29_760);
		assertThat(broken()).containsExactly("runs that began more than 250 ms before their planned time");
	}

	@Test
	void latestMissedPlannedTimeThatIsRunOncePasses() {
		allDown();
		run(1, CronJobs.CATCH_UP, 32_000, 1, 41_100);
		assertThat(broken()).isEmpty();
	}

	@Test
	void latestMissedPlannedTimeThatIsNotRunIsFound() {
		allDown();
		assertThat(broken()).containsExactly(MISSING);
	}

	@Test
	void latestMissedPlannedTimeThatIsRunLateIsFound() {
		allDown();
		run(1, CronJobs.CATCH_UP, 32_000, 1, 51_200);
		assertThat(broken()).containsExactly(MISSING);
		this.windows.add(new Window("machine stood still", 0, nanos(45_000), nanos(47_000)));
		assertThat(broken()).isEmpty();
	}

	@Test
	void latestMissedPlannedTimeThatIsRunTwiceIsFound() {
		allDown();
		run(1, CronJobs.CATCH_UP, 32_000, 1, 41_100);
		run(2, CronJobs.CATCH_UP, 32_000, 1, 42_100);
		assertThat(broken()).containsExactly("planned times with SKIP that were run twice",
				"attempts that were run twice");
	}

	@Test
	void runOfAnEarlierMissedPlannedTimeIsFound() {
		allDown();
		run(1, CronJobs.CATCH_UP, 31_000, 1, 41_100);
		assertThat(broken()).containsExactly(WRONG, MISSING);
		run(1, CronJobs.CATCH_UP, 32_000, 1, 41_200);
		assertThat(broken()).containsExactly(WRONG);
	}

	@Test
	void runOfAMissedPlannedTimeThatIsToBeSkippedIsFound() {
		allDown();
		run(1, CronJobs.CATCH_UP, 32_000, 1, 41_100);
		run(2, CronJobs.NO_CATCH_UP, 32_000, 1, 41_100);
		assertThat(broken()).containsExactly(WRONG);
	}

	@Test
	void plannedTimeThatComesSoonAfterTheStartCanBeTheLatest() {
		allDown();
		readyAt(50_500);
		run(1, CronJobs.CATCH_UP, 60_000, 1, 60_005);
		assertThat(broken()).isEmpty();
	}

	@Test
	void plannedTimeThatComesLaterIsNotTheLatestMissedOne() {
		allDown();
		readyAt(49_500);
		run(1, CronJobs.CATCH_UP, 60_000, 1, 60_005);
		assertThat(broken()).containsExactly(MISSING);
	}

	private void readyAt(long millis) {
		this.events.replaceAll((event) -> (event.what() == What.READY && event.nanos() > nanos(DOWN_AT * 1000L))
				? new JobEvent(What.READY, 1, 2, "-", 0, 0, 0, 0, nanos(millis)) : event);
	}

	@Test
	void runOfAPlannedTimeBeforeTheFirstStartIsFound() {
		runAll();
		start(1, 45_000, 45_000);
		assertThat(broken()).containsExactly("planned times before the first start that were run");
		this.events.clear();
		this.recorded.clear();
		runAll();
		start(1, 900, 900);
		run(1, CronJobs.CATCH_UP, -28_000, 1, 1000);
		assertThat(broken()).containsExactly("planned times before the first start that were run");
	}

	@Test
	void instanceWhoseClockIsBehindStartsByThat() {
		runAll();
		start(1, 900, 900 - 600_000);
		run(1, CronJobs.CATCH_UP, -570_000, 1, 1000);
		assertThat(broken()).isEmpty();
	}

	@Test
	void crashedRunOfAnInstanceWhoseClockIsBehindIsRepeatedByAnother() {
		runAll();
		start(1, 900, 900 - 600_000);
		start(2, 900, 900);
		run(2, RERUN, -570_000, 2, 4700);
		assertThat(broken()).containsExactly("planned times before the first start that were run");
		event(What.BEGUN, 1, RERUN, -570_000, 1, 1000, 1001);
		record(1, RERUN, -570_000, 1, 1000, "CRASHED");
		assertThat(broken()).isEmpty();
	}

	@Test
	void crashedRunBeforeTheFirstStartIsNotExcusedByItsRepetition() {
		runAll();
		start(1, 900, 900);
		start(2, 900, 900 - 600_000);
		event(What.BEGUN, 1, RERUN, -570_000, 1, 1000, 1001);
		record(1, RERUN, -570_000, 1, 1000, "CRASHED");
		run(2, RERUN, -570_000, 2, 4700);
		assertThat(broken()).containsExactly("planned times before the first start that were run");
	}

}
