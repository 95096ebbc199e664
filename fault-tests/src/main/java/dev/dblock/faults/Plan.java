package dev.dblock.faults;

import java.time.Duration;
import java.util.List;

/**
 * What was to happen in a run.
 *
 * @param duration for how long at least
 * @param whole whether none of the faults was left out by name
 * @param faults the kinds of those that were to happen
 */
record Plan(Duration duration, boolean whole, List<String> faults) {

	/**
	 * From here on, chance is no excuse for what never happened.
	 */
	private static final Duration LONG = Duration.ofMinutes(30);

	boolean isLong() {
		return this.whole && this.duration.compareTo(LONG) >= 0;
	}

}
