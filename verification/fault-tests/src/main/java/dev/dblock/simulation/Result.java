package dev.dblock.simulation;

import java.util.List;
import java.util.Map;

/**
 * What came of a simulation.
 *
 * @param options what was simulated
 * @param violations the promises that were broken
 * @param sections how many sections began
 * @param steps how often a thread continued
 * @param hash is the same whenever all steps are
 * @param simulatedNanos the time that passed in the simulation
 * @param realNanos the time that it took
 * @param counts how often each event happened
 */
record Result(SimulationOptions options, List<String> violations, int sections, long steps, long hash,
		long simulatedNanos, long realNanos, Map<String, Integer> counts) {

	boolean passed() {
		return this.violations.isEmpty();
	}

	/**
	 * How many seconds were simulated per second.
	 */
	double speed() {
		return (double) this.simulatedNanos / this.realNanos;
	}

	Result failed(String why) {
		return new Result(this.options, List.of(why), this.sections, this.steps, this.hash, this.simulatedNanos,
				this.realNanos, this.counts);
	}

	@Override
	public String toString() {
		return "seed %d: %s, %d sections on %s, %d steps, hash %016x, %.0f s simulated in %.1f s (%.0f times real time)"
			.formatted(this.options.seed(), passed() ? "passed" : this.violations.size() + " VIOLATIONS", this.sections,
					SimulationOptions.readable(this.options.store()), this.steps, this.hash, this.simulatedNanos / 1e9,
					this.realNanos / 1e9, speed());
	}

}
