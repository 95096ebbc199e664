package dev.dblock.job.trigger;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * What a schedule plans between two instants.
 *
 * @param times the planned times, in order
 * @param more whether there are earlier ones, which were not computed
 */
public record PlannedTimes(List<Instant> times, boolean more) {

	/** How many planned times are computed; any before them are only counted as more. */
	public static final int MOST = 1000;

	/** How many are computed however long it takes, as on a machine that is busy. */
	static final int FEW = 100;

	/** How long more of them may take in a thread of the scheduler. */
	static final Duration LONGEST = Duration.ofMillis(50);

	public static final PlannedTimes NONE = new PlannedTimes(List.of(), false);

}
