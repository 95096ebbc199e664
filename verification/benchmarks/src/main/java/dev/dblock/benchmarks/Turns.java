package dev.dblock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Operations that take turns, so that a disturbance of the machine of more than a few
 * milliseconds affects all of them. Each pass begins with the next operation.
 */
final class Turns {

	private final List<Turn> turns;

	private int first;

	/**
	 * Create turns.
	 * @param operations the operations, by the keys of their times
	 */
	Turns(Map<String, Operation> operations) {
		this.turns = operations.entrySet()
			.stream()
			.map((entry) -> new Turn(entry.getKey(), entry.getValue(), new ArrayList<>()))
			.toList();
	}

	/**
	 * Run each operation once.
	 * @throws Exception if one fails
	 */
	void takeAll() throws Exception {
		int count = this.turns.size();
		for (int i = 0; i < count; i++) {
			this.turns.get((this.first + i) % count).take();
		}
		this.first = (this.first + 1) % count;
	}

	/**
	 * Add the medians since the last call, and discard the times.
	 */
	void addMediansTo(Scores scores) {
		for (Turn turn : this.turns) {
			scores.add(turn.key(), Spread.of(turn.nanos()).median());
			turn.nanos().clear();
		}
	}

	/**
	 * Timed operation.
	 */
	interface Operation {

		void run() throws Exception;

	}

	/**
	 * Operation with its times.
	 *
	 * @param key the key of the operation
	 * @param operation the operation
	 * @param nanos the time of each run, in nanoseconds
	 */
	private record Turn(String key, Operation operation, List<Double> nanos) {

		void take() throws Exception {
			long start = System.nanoTime();
			this.operation.run();
			this.nanos.add((double) (System.nanoTime() - start));
		}

	}

}
