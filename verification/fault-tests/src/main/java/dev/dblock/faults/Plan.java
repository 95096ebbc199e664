package dev.dblock.faults;

import java.time.Duration;
import java.util.List;

/**
 * Plan of a run.
 *
 * @param duration the minimum duration
 * @param whole whether no fault was excluded by name
 * @param faults the kinds of the planned faults
 */
record Plan(Duration duration, boolean whole, List<String> faults) {

	/**
	 * From this duration on, chance does not explain that a fault never occurred.
	 */
	private static final Duration LONG = Duration.ofMinutes(30);

	boolean isLong() {
		return this.whole && this.duration.compareTo(LONG) >= 0;
	}

}
