package dev.dblock.faults;

import java.time.Duration;
import java.util.List;

import dev.dblock.faults.FaultRun.Course;

/**
 * Round of jobs on some workers for a while.
 *
 * @param name the name of the round
 * @param profile the profile that selects the jobs of the workers
 * @param clocks how far the clock of each worker is ahead
 * @param course the course of faults
 */
record JobRound(String name, String profile, List<Duration> clocks, Course course) {

	static final List<Duration> CLOSE = multiples(Duration.ofMillis(350));

	static final List<Duration> APART = multiples(Duration.ofMinutes(10));

	/** A mixture of both. */
	static final List<Duration> MIXED = List.of(Duration.ZERO, Duration.ofMillis(350), Duration.ofMillis(-350),
			Duration.ofMinutes(10), Duration.ofMinutes(-10));

	private static List<Duration> multiples(Duration difference) {
		return List.of(Duration.ZERO, difference, difference.negated(), difference.multipliedBy(2),
				difference.multipliedBy(-2));
	}

	int workers() {
		return this.clocks.size();
	}

}
