package dev.dblock.simulation;

import java.time.Duration;

/**
 * What one simulation does.
 *
 * @param seed determines everything that is random
 * @param sections how many sections all instances begin
 * @param mode what is checked
 * @param traced whether each step is printed
 * @param allowance for how much longer than its lease the store keeps a lock
 */
record SimulationOptions(long seed, int sections, Mode mode, boolean traced, Duration allowance) {

	/** What users have by default. */
	static final Duration ALLOWANCE = Duration.ofMillis(500);

	/**
	 * Return the command that repeats this simulation and prints each step.
	 */
	String replayCommand() {
		return "scripts/simulate --seed %d --sections %d --mode %s --trace".formatted(this.seed, this.sections,
				this.mode.name().toLowerCase(java.util.Locale.ROOT));
	}

	/**
	 * What is checked.
	 */
	enum Mode {

		/**
		 * Faults of all kinds, as long as there are sections.
		 */
		SAFETY,

		/**
		 * Periods of faults, after each of which every waiting thread must get its lock
		 * or a refusal.
		 */
		LIVENESS,

		/**
		 * Scheduled jobs instead of sections, with periods of faults, after each of which
		 * all jobs must run at their planned times.
		 */
		JOBS

	}

}
