package dev.dblock.faults;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.dblock.faults.JobEvent.What;

/**
 * Checks whether a run could have shown violations in each state of an upgrade.
 */
final class UpgradeJudge {

	private final List<String> versions;

	private final List<ServerState> states;

	private final List<Attempt> attempts;

	private final List<JobEvent> events;

	private final List<Window> windows;

	/**
	 * Create a judge.
	 * @param versions the versions in the order of the upgrades
	 * @param states the states of the servers
	 * @param history the history of the sections
	 * @param events the events of the jobs
	 */
	UpgradeJudge(List<String> versions, List<ServerState> states, History history, List<JobEvent> events) {
		this.versions = versions;
		this.states = states;
		this.attempts = history.attempts();
		this.windows = history.windows();
		this.events = events;
	}

	/**
	 * Return the kind of the fault that kills a primary of a version while a member has
	 * an older one.
	 */
	static String killed(String version, String older) {
		return "primary killed, " + version + " among " + older;
	}

	List<Finding> findings() {
		return List.of(Finding.rule("states of the servers in which no section was entered", without(this::sections)),
				Finding.rule("states of the servers in which no job was run", without(this::jobs)),
				Finding.rule("upgrades without a killed primary of the newer version among older ones", notKilled()));
	}

	private List<String> without(ToLongFunction<ServerState> count) {
		return this.states.stream()
			.filter((state) -> count.applyAsLong(state) == 0)
			.map(ServerState::versions)
			.toList();
	}

	private List<String> notKilled() {
		return IntStream.range(1, this.versions.size())
			.mapToObj((to) -> killed(this.versions.get(to), this.versions.get(to - 1)))
			.filter((kind) -> this.windows.stream().noneMatch((window) -> window.kind().equals(kind)))
			.toList();
	}

	private long sections(ServerState state) {
		return this.attempts.stream()
			.filter((attempt) -> attempt.isClaimed() && state.time().contains(attempt.enterNanos()))
			.count();
	}

	private long jobs(ServerState state) {
		return this.events.stream()
			.filter((event) -> event.what() == What.BEGUN && state.time().contains(event.nanos()))
			.count();
	}

	/**
	 * Describe how much was done in each state.
	 */
	String figures() {
		List<String> lines = new ArrayList<>();
		lines.add(String.format(Locale.ROOT, "%-42s %5s %10s %10s", "servers", "s", "sections", "jobs"));
		for (ServerState state : this.states) {
			lines.add(String.format(Locale.ROOT, "%-42s %5d %,10d %,10d", state.versions(),
					(state.time().to() - state.time().from()) / 1_000_000_000, sections(state), jobs(state)));
		}
		return lines.stream().collect(Collectors.joining("\n"));
	}

}
