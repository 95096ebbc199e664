package dev.dblock.benchmarks;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Operations that are done in turn, one of each after another, so that whatever disturbs
 * the machine for longer than a few milliseconds disturbs them all. Each time another one
 * begins.
 */
final class Turns {

	private final List<Turn> turns;

	private int first;

	/**
	 * Turns.
	 * @param operations what to do, by the keys that the times are found by
	 */
	Turns(Map<String, Operation> operations) {
		this.turns = operations.entrySet()
			.stream()
			.map((entry) -> new Turn(entry.getKey(), entry.getValue(), new ArrayList<>()))
			.toList();
	}

	/**
	 * Do each operation once.
	 * @throws Exception when one fails
	 */
	void takeAll() throws Exception {
		int count = this.turns.size();
		for (int i = 0; i < count; i++) {
			this.turns.get((this.first + i) % count).take();
		}
		this.first = (this.first + 1) % count;
	}

	/**
	 * Add the medians since the last call, and forget the times.
	 */
	void addMediansTo(Scores scores) {
		for (Turn turn : this.turns) {
			scores.add(turn.key(), Spread.of(turn.nanos()).median());
			turn.nanos().clear();
		}
	}

	/**
	 * What is timed.
	 */
	interface Operation {

		void run() throws Exception;

	}

	/**
	 * An operation and how long it took each time.
	 *
	 * @param key what it is called
	 * @param operation the operation
	 * @param nanos its times
	 */
	private record Turn(String key, Operation operation, List<Double> nanos) {

		void take() throws Exception {
			long start = System.nanoTime();
			this.operation.run();
			this.nanos.add((double) (System.nanoTime() - start));
		}

	}

}
