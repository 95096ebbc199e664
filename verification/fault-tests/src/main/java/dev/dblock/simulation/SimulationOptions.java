package dev.dblock.simulation;

import java.util.Locale;

/**
 * What one simulation does.
 *
 * @param seed determines everything that is random
 * @param sections how many sections all instances begin
 * @param mode what is checked
 * @param store where locks are stored
 * @param traced whether each step is printed
 */
record SimulationOptions(long seed, int sections, Mode mode, StoreKind store, boolean traced) {

	/**
	 * Return the command that repeats this simulation and prints each step.
	 */
	String replayCommand() {
		return "scripts/simulate --seed %d --sections %d --mode %s --store %s --trace".formatted(this.seed,
				this.sections, readable(this.mode), readable(this.store));
	}

	static String readable(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT);
	}

	/**
	 * Where locks are stored.
	 */
	enum StoreKind {

		/**
		 * In a simulated MongoDB server.
		 */
		MONGODB,

		/**
		 * In memory, without any code for MongoDB.
		 */
		MEMORY,

		/**
		 * In a simulated MongoDB server that is too old for pipelines.
		 */
		CLASSIC;

		/**
		 * Return the store of a seed if none is named.
		 */
		static StoreKind of(long seed) {
			return values()[Math.floorMod(seed, values().length)];
		}

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
