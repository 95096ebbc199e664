package dev.dblock.faults;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * All that is known of a run.
 *
 * @param attempts what the workers recorded
 * @param windows when there were faults
 * @param stretches in what state the servers had the locks
 * @param stuck workers that did not end when they were told to
 * @param ledger what transactions have left in the data in the end, if it was looked at
 * @param plan what was to happen, if it is known
 */
record History(List<Attempt> attempts, List<Window> windows, List<Stretch> stretches, List<String> stuck,
		@Nullable List<Committed> ledger, @Nullable Plan plan) {

	History(List<Attempt> attempts, List<Window> windows, List<Stretch> stretches, List<String> stuck) {
		this(attempts, windows, stretches, stuck, null, null);
	}

	/**
	 * Whether something happened to a worker or to the servers within a time.
	 */
	boolean isDisturbed(int worker, Span time) {
		return this.windows.stream()
			.anyMatch((window) -> window.isFor(worker) && window.overlaps(time.from(), time.to()));
	}

	/**
	 * The same, with each fault that went on after an election ended by it.
	 */
	History endedByElections() {
		List<Window> ended = this.windows.stream()
			.map((window) -> this.windows.stream()
				.filter((other) -> other.isElectionOf(window))
				.findFirst()
				.orElse(window))
			.map((window) -> window.isElection() ? window.forAll() : window)
			.toList();
		return new History(this.attempts, ended, this.stretches, this.stuck, this.ledger, this.plan);
	}

}
