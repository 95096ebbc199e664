package dev.dblock.job.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import dev.dblock.LockInfo;
import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobPolicy.WhenClockChanges;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a job does after each answer, for each schedule and at each time.
 */
class NextFiringTests {

	private static final Instant PLANNED = Instant.parse("2026-03-01T12:00:00Z");

	private static final Instant EARLIER = PLANNED.minus(Duration.ofHours(1));

	private static final Duration START_WITHIN = Duration.ofMinutes(10);

	private static final Duration PERIOD = Duration.ofSeconds(2);

	private static final Duration PAUSE = Duration.ofSeconds(1);

	/**
	 * The rules. The first line that matches decides. "then" is relative to the time of
	 * the decision, apart from planned times. A dash matches everything.
	 */
	private static final String RULES = """
			schedule | answer           | time    | later planned | rerun | then
			none     | -                | -       | -   | -   | nothing

			instant  | -                | -       | yes | -   | nothing
			look     | -                | -       | yes | -   | nothing

			instant  | own run          | -       | -   | -   | nothing
			instant  | run of crashed   | -       | -   | -   | planned time at 12:00
			instant  | no record        | -       | -   | -   | nothing
			instant  | failed           | on time | -   | -   | retry in 1 s
			instant  | timed out        | on time | -   | -   | retry in 1 s
			instant  | held             | on time | -   | -   | retry in 0.7 s
			instant  | held, ending     | on time | -   | -   | retry in 0.1 s
			instant  | overlapped       | on time | -   | -   | retry in 1 s
			instant  | failed           | at last | -   | -   | retry in 0.501 s
			instant  | timed out        | at last | -   | -   | retry in 0.501 s
			instant  | held             | at last | -   | -   | retry in 0.501 s
			instant  | held, ending     | at last | -   | -   | retry in 0.1 s
			instant  | overlapped       | at last | -   | -   | retry in 0.501 s
			instant  | failed           | late    | -   | -   | retry in 1 s
			instant  | timed out        | late    | -   | -   | retry in 1 s
			instant  | held             | late    | -   | -   | retry in 0.7 s
			instant  | held, ending     | late    | -   | -   | retry in 0.1 s
			instant  | overlapped       | late    | -   | -   | retry in 1 s
			instant  | too late         | -       | -   | -   | to be recorded as missed
			instant  | running          | -       | -   | no  | nothing
			instant  | running          | -       | -   | yes | look at 12:00 in 30 s
			instant  | running, next    | -       | -   | no  | nothing
			instant  | running, next    | -       | -   | yes | look at 12:00 in 30 s
			instant  | running, overdue | -       | -   | no  | nothing
			instant  | running, overdue | -       | -   | yes | look at 12:00 in 30 s
			instant  | running, freed   | -       | -   | -   | nothing
			instant  | done             | -       | -   | -   | nothing
			instant  | crashed          | -       | -   | -   | nothing
			instant  | abandoned        | -       | -   | -   | nothing
			instant  | paused           | -       | -   | -   | nothing
			instant  | not due          | -       | -   | -   | planned again
			instant  | not due by ours  | -       | -   | -   | planned again

			look     | own run          | -       | -   | -   | nothing
			look     | run of crashed   | -       | -   | -   | nothing
			look     | no record        | -       | -   | -   | nothing
			look     | failed           | -       | -   | -   | retry in 1 s
			look     | timed out        | -       | -   | -   | retry in 1 s
			look     | held             | -       | -   | -   | retry in 0.7 s
			look     | held, ending     | -       | -   | -   | retry in 0.1 s
			look     | overlapped       | -       | -   | -   | retry in 1 s
			look     | running          | -       | -   | no  | nothing
			look     | running          | -       | -   | yes | look at 12:00 in 30 s
			look     | running, next    | -       | -   | no  | nothing
			look     | running, next    | -       | -   | yes | look at 12:00 in 30 s
			look     | running, overdue | -       | -   | no  | nothing
			look     | running, overdue | -       | -   | yes | look at 12:00 in 30 s
			look     | running, freed   | -       | -   | -   | nothing
			look     | done             | -       | -   | -   | nothing
			look     | crashed          | -       | -   | -   | nothing
			look     | abandoned        | -       | -   | -   | nothing
			look     | paused           | -       | -   | -   | nothing
			look     | too late         | -       | -   | -   | to be recorded as missed
			look     | not due          | -       | -   | -   | look at 11:00 in 0.1 s
			look     | not due by ours  | -       | -   | -   | look at 11:00 in 0.1 s

			rate     | own run          | on time | -   | -   | next period in 1 s
			rate     | own run          | -       | -   | -   | next period in 0 s
			rate     | run of crashed   | -       | -   | -   | next period in 0 s
			delay    | own run          | -       | -   | -   | next period in 2 s
			delay    | run of crashed   | -       | -   | -   | next period in 2 s
			periodic | no record        | -       | -   | -   | nothing
			periodic | failed           | -       | -   | -   | retry in 1 s
			periodic | timed out        | -       | -   | -   | retry in 1 s
			periodic | held             | -       | -   | -   | retry in 0.7 s
			periodic | held, ending     | -       | -   | -   | retry in 0.1 s
			periodic | overlapped       | -       | -   | no  | nothing
			periodic | overlapped       | -       | -   | yes | next period in 30 s
			periodic | running          | -       | -   | no  | nothing
			periodic | running          | -       | -   | yes | next period in 30 s
			periodic | running, next    | -       | -   | -   | next period in 5 s
			periodic | running, overdue | -       | -   | no  | nothing
			periodic | running, overdue | -       | -   | yes | next period in 30 s
			periodic | running, freed   | -       | -   | -   | nothing
			periodic | done             | -       | -   | -   | next period in 5 s
			periodic | crashed          | -       | -   | -   | next period in 5 s
			periodic | abandoned        | -       | -   | -   | next period in 5 s
			periodic | too late         | -       | -   | -   | nothing
			periodic | paused           | -       | -   | -   | next period in 5 s
			periodic | not due          | -       | -   | -   | next period in 5 s
			periodic | not due by ours  | -       | -   | -   | next period in 0.1 s
			""";

	private static final List<String> SCHEDULES = List.of("none", "instant", "look", "rate", "delay");

	private static final List<String> ANSWERS = List.of("own run", "run of crashed", "no record", "failed", "timed out",
			"held", "held, ending", "overlapped", "running", "running, next", "running, overdue", "running, freed",
			"done", "crashed", "abandoned", "too late", "paused", "not due", "not due by ours");

	private static final List<String> TIMES = List.of("on time", "at last", "late");

	private static final List<String> YES_OR_NO = List.of("yes", "no");

	@Test
	void rulesDecideInEachSituation() {
		List<Rule> rules = rules();
		Set<Rule> used = new HashSet<>();
		List<String> wrong = new ArrayList<>();
		for (Situation situation : situations()) {
			Rule rule = rules.stream().filter((each) -> each.matches(situation)).findFirst().orElseThrow();
			used.add(rule);
			String then = describe(situation.decide(), situation.now());
			if (!then.equals(rule.then())) {
				wrong.add("%s: '%s' instead of '%s'".formatted(situation, then, rule.then()));
			}
		}
		assertThat(wrong).isEmpty();
		assertThat(used).as("rules that decide something").containsExactlyInAnyOrderElementsOf(rules);
	}

	@Test
	void retryAfterAFailureRepeatsTheFiring() {
		for (Situation situation : situations()) {
			if (situation.decide() instanceof NextFiring.Retry retry) {
				JobRequest request = retry.request();
				JobFiring asked = situation.asked().firing();
				boolean inDoubt = List.of("failed", "timed out").contains(situation.answer());
				assertThat(request.inDoubt()).as(situation.toString()).isSameAs(inDoubt ? asked : null);
				assertThat(request.isRepeated()).isTrue();
				assertThat(request.schedule()).isEqualTo(situation.schedule());
				assertThat(request.look()).isEqualTo(situation.request().look());
				assertThat(request.names()).isEqualTo(Map.of("lock", "report-1"));
			}
		}
	}

	@Test
	void limitOfARetryIsDoubledOnlyIfItCutTheRequestShort() {
		JobRequest first = JobRequest.first(new Schedule.FixedRate(PERIOD));
		JobRequest second = timedOut(first).retry();
		assertThat(second.timeouts()).as("the first has no limit").isZero();
		JobRequest third = timedOut(second).retry();
		assertThat(third.timeouts()).isOne();
		assertThat(
				new Answer(third, null, null, null, new DataAccessResourceFailureException("away")).retry().timeouts())
			.isZero();
		LockRefusal held = new LockRefusal("job", null, Duration.ZERO);
		assertThat(new Answer(third, null, null, held, null).retry().timeouts()).isOne();
	}

	@Test
	void pauseIsDoubledUpToTheLongest() {
		for (int earlier = 0; earlier < 100; earlier++) {
			Duration longest = Duration.ofMillis((earlier < 5) ? 250L << earlier : 5000);
			assertThat(NextFiring.pause(earlier)).isBetween(longest.dividedBy(2), longest);
		}
	}

	private static Answer timedOut(JobRequest request) {
		return new Answer(request, null, null, null, new QueryTimeoutException("slow"));
	}

	private static List<Rule> rules() {
		return RULES.lines()
			.skip(1)
			.filter((line) -> !line.isBlank())
			.map((line) -> new Rule(Arrays.stream(line.split("\\|")).map(String::strip).toList()))
			.toList();
	}

	private static List<Situation> situations() {
		List<Situation> all = new ArrayList<>();
		for (String schedule : SCHEDULES) {
			for (String answer : ANSWERS) {
				for (String time : TIMES) {
					for (String laterPlanned : YES_OR_NO) {
						for (String rerun : YES_OR_NO) {
							all.add(new Situation(schedule, answer, time, laterPlanned, rerun));
						}
					}
				}
			}
		}
		return all;
	}

	private static String describe(NextFiring next, Instant now) {
		if (next instanceof NextFiring.Missed) {
			return "to be recorded as missed";
		}
		if (next instanceof NextFiring.Retry retry) {
			return "retry" + in(now, retry.at());
		}
		if (next instanceof NextFiring.At at) {
			if (at.request().schedule() instanceof Schedule.Planned planned) {
				return at.request().look() ? "look at " + time(planned.at()) + in(now, at.at())
						: "planned time at " + time(at.at());
			}
			return "next period" + in(now, at.at());
		}
		return (next instanceof NextFiring.NotDue) ? "planned again" : "nothing";
	}

	private static String in(Instant now, Instant at) {
		String seconds = Double.toString(Duration.between(now, at).toMillis() / 1000.0);
		return " in " + (seconds.endsWith(".0") ? seconds.substring(0, seconds.length() - 2) : seconds) + " s";
	}

	private static String time(Instant instant) {
		return instant.toString().substring(11, 16);
	}

	/**
	 * A line of the rules.
	 */
	private record Rule(List<String> columns) {

		boolean matches(Situation situation) {
			List<String> values = List.of(situation.kind(), situation.answer(), situation.time(),
					situation.laterPlanned(), situation.rerun());
			for (int column = 0; column < values.size(); column++) {
				String expected = this.columns.get(column);
				boolean periodic = expected.equals("periodic") && List.of("rate", "delay").contains(values.get(column));
				if (!expected.equals("-") && !periodic && !expected.equals(values.get(column))) {
					return false;
				}
			}
			return true;
		}

		String then() {
			return this.columns.get(5);
		}

	}

	/**
	 * One combination.
	 */
	private record Situation(String kind, String answer, String time, String laterPlanned, String rerun) {

		NextFiring decide() {
			Instant latest = this.laterPlanned.equals("yes") ? PLANNED.plusMillis(500) : PLANNED;
			return NextFiring.after(toAnswer(), latest, now(), PAUSE);
		}

		Instant now() {
			return switch (this.time) {
				case "on time" -> PLANNED.plusSeconds(1);
				case "at last" -> PLANNED.plus(START_WITHIN).minusMillis(500);
				default -> PLANNED.plus(START_WITHIN).plusMillis(1);
			};
		}

		@Nullable Schedule schedule() {
			return request().schedule();
		}

		JobRequest request() {
			JobRequest request = switch (this.kind) {
				case "instant" -> JobRequest.first(new Schedule.Planned(PLANNED));
				case "look" -> JobRequest.look(run(EARLIER, null), PLANNED);
				case "rate" -> JobRequest.first(new Schedule.FixedRate(PERIOD));
				case "delay" -> JobRequest.first(new Schedule.FixedDelay(PERIOD));
				default -> JobRequest.first(null);
			};
			return request.named(Map.of("lock", "report-1"));
		}

		Answer.Asked asked() {
			boolean rerun = this.rerun.equals("yes");
			JobMethod.Declaration declaration = new JobMethod.Declaration(null, "job", "job", new JobEngine(), rerun,
					false, START_WITHIN, null, null, null, WhenClockChanges.AS_PLANNED, null, 0, 1);
			JobFiring firing = new JobFiring(null, new Schedule.Planned(PLANNED), "firing", rerun);
			return ASKED.computeIfAbsent(rerun,
					(key) -> new Answer.Asked(new JobMethod("bean", NextFiringTests.class, "run", () -> declaration),
							declaration, firing, 0));
		}

		private Answer toAnswer() {
			return switch (this.answer) {
				case "own run" -> new Answer(request(), asked(), run(PLANNED, null), null, null);
				case "run of crashed" -> new Answer(request(), asked(), run(EARLIER, null), null, null);
				case "no record" -> new Answer(request(), asked(), null, null, null);
				case "failed" ->
					new Answer(request(), asked(), null, null, new DataAccessResourceFailureException("away"));
				case "timed out" -> new Answer(request(), asked(), null, null, new QueryTimeoutException("slow"));
				default -> new Answer(request(), asked(), null, refusal(), null);
			};
		}

		private LockRefusal refusal() {
			Duration lease = Duration.ofSeconds(30);
			Instant next = now().plusSeconds(5);
			return switch (this.answer) {
				case "held" -> refused(Duration.ofMillis(700), null);
				case "held, ending" -> refused(Duration.ofMillis(3), null);
				case "overlapped" -> refused(lease, verdict(Reason.OVERLAPPED, null, run(EARLIER, null)));
				case "running" -> refused(lease, verdict(Reason.RUNNING, null, run(PLANNED, null)));
				case "running, next" -> refused(lease, verdict(Reason.RUNNING, next, run(PLANNED, null)));
				case "running, overdue" ->
					refused(lease, verdict(Reason.RUNNING, now().minusSeconds(1), run(PLANNED, null)));
				case "running, freed" -> refused(Duration.ZERO, verdict(Reason.RUNNING, null, run(PLANNED, null)));
				case "done" -> refused(null, verdict(Reason.DONE, next, run(PLANNED, JobRun.Outcome.SUCCEEDED)));
				case "crashed" -> refused(null, verdict(Reason.DONE, next, run(PLANNED, JobRun.Outcome.CRASHED)));
				case "abandoned" -> refused(null, verdict(Reason.DONE, next, run(PLANNED, JobRun.Outcome.ABANDONED)));
				case "too late" -> refused(null, verdict(Reason.TOO_LATE, null, run(EARLIER, JobRun.Outcome.FAILED)));
				case "paused" -> refused(null, verdict(Reason.PAUSED, next, null));
				case "not due" -> refused(null, verdict(Reason.NOT_DUE, next, null));
				case "not due by ours" -> refused(null, verdict(Reason.NOT_DUE, now(), null));
				default -> throw new IllegalArgumentException(this.answer);
			};
		}

		private static final Map<Boolean, Answer.Asked> ASKED = new HashMap<>();

		private static LockRefusal refused(@Nullable Duration remaining, @Nullable JobRefusal verdict) {
			LockInfo holder = (remaining != null) ? new LockInfo("job", true, "id", "another", "main", "why", 1,
					PLANNED, PLANNED, PLANNED.plus(remaining), null, remaining) : null;
			return new LockRefusal("job", holder, Duration.ZERO, null, verdict);
		}

		private static JobRefusal verdict(Reason reason, @Nullable Instant next, @Nullable JobRun last) {
			return new JobRefusal(reason, next, last, null, PLANNED);
		}

		private static JobRun run(Instant planned, JobRun.@Nullable Outcome outcome) {
			return new JobRun("job", planned, 1, planned, null, outcome, "another", 1, null);
		}

	}

}
