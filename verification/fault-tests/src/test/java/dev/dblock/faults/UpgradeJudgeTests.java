package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import dev.dblock.faults.JobEvent.What;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the judge of upgrades finds.
 */
class UpgradeJudgeTests {

	private static final String NO_SECTIONS = "states of the servers in which no section was entered";

	private static final String NO_JOBS = "states of the servers in which no job was run";

	private static final String NOT_KILLED = "upgrades without a killed primary of the newer version among older ones";

	private static final List<ServerState> STATES = List.of(new ServerState("4 4 4", new Span(nanos(0), nanos(1000))),
			new ServerState("5 4 4", new Span(nanos(2000), nanos(3000))),
			new ServerState("5 5 5", new Span(nanos(4000), nanos(5000))));

	private final List<Attempt> attempts = new ArrayList<>();

	private final List<JobEvent> events = new ArrayList<>();

	private final List<Window> windows = new ArrayList<>();

	private static long nanos(long millis) {
		return Duration.ofMillis(millis).toNanos();
	}

	private void section(long millis, boolean held) {
		this.attempts.add(new Attempt(1, 1, "red", Kind.ACQUIRE, nanos(millis - 1), millis + 1, nanos(millis), millis,
				held ? millis + 1 : 0, nanos(millis), nanos(millis + 3000), 0, false, nanos(millis + 1),
				Outcome.RELEASED, Writing.NONE, Written.NOTHING, 0));
	}

	private void job(What what, long millis) {
		this.events.add(new JobEvent(what, 1, 1, "skip-1", millis, 1, millis, millis, nanos(millis)));
	}

	private void killed(String version, String older) {
		this.windows.add(new Window(UpgradeJudge.killed(version, older), 0, nanos(3000), nanos(3500)));
	}

	private UpgradeJudge judge(List<String> versions) {
		return new UpgradeJudge(versions, STATES, new History(this.attempts, this.windows, List.of(), List.of()),
				this.events);
	}

	private List<String> broken(List<String> versions) {
		return judge(versions).findings().stream().filter((finding) -> !finding.passed()).map(Finding::what).toList();
	}

	private List<String> examples(String what) {
		return judge(List.of("4")).findings()
			.stream()
			.filter((finding) -> finding.what().equals(what))
			.findFirst()
			.orElseThrow()
			.examples();
	}

	private void workInEachState() {
		for (long millis : List.of(0L, 2500L, 4999L)) {
			section(millis, true);
			job(What.BEGUN, millis);
		}
	}

	@Test
	void workInEachStateAndAKilledPrimaryAreAllThatIsRequired() {
		workInEachState();
		killed("5", "4");
		assertThat(broken(List.of("4", "5"))).isEmpty();
		assertThat(judge(List.of("4", "5")).figures()).containsPattern("5 4 4 +1 +1 +1\\b");
	}

	@Test
	void aStateWithoutSectionsIsFound() {
		workInEachState();
		this.attempts.remove(1);
		section(2500, false);
		section(3000, true);
		section(1000, true);
		assertThat(broken(List.of("4"))).containsExactly(NO_SECTIONS);
		assertThat(examples(NO_SECTIONS)).containsExactly("5 4 4");
	}

	@Test
	void aStateWithoutJobsIsFound() {
		workInEachState();
		this.events.remove(2);
		job(What.ENDED, 4500);
		job(What.BEGUN, 5000);
		assertThat(broken(List.of("4"))).containsExactly(NO_JOBS);
		assertThat(examples(NO_JOBS)).containsExactly("5 5 5");
	}

	@Test
	void aKilledPrimaryIsRequiredInEachUpgrade() {
		workInEachState();
		killed("5", "4");
		killed("5", "6");
		assertThat(broken(List.of("4", "5", "6"))).containsExactly(NOT_KILLED);
	}

}
