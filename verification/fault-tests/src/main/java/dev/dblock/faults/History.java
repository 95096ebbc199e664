package dev.dblock.faults;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Complete history of a run.
 *
 * @param attempts the records of the workers
 * @param windows the times of the faults
 * @param stretches the states of the locks on the servers
 * @param stuck the workers that did not stop when requested
 * @param ledger the final data of the transactions, if it was read
 * @param plan the plan of the run, if it is known
 */
record History(List<Attempt> attempts, List<Window> windows, List<Stretch> stretches, List<String> stuck,
		@Nullable List<Committed> ledger, @Nullable Plan plan) {

	History(List<Attempt> attempts, List<Window> windows, List<Stretch> stretches, List<String> stuck) {
		this(attempts, windows, stretches, stuck, null, null);
	}

	/**
	 * Return whether a worker or the servers were disturbed within a time.
	 */
	boolean isDisturbed(int worker, Span time) {
		return this.windows.stream()
			.anyMatch((window) -> window.isFor(worker) && window.overlaps(time.from(), time.to()));
	}

	/**
	 * Return the same history, in which each fault that continued after an election ends
	 * with the election.
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
