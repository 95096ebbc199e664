package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Finds times for which locks that were free on the servers were not acquired although a
 * waiting attempt could have acquired them.
 */
final class FreeLocks {

	/**
	 * Shorter gaps cannot be observed at the rate at which the servers are checked.
	 */
	private static final long SHORTEST_NANOS = Duration.ofMillis(100).toNanos();

	private final History history;

	private final List<Gap> gaps = new ArrayList<>();

	FreeLocks(History history) {
		this.history = history;
		Waits waits = new Waits(history);
		for (Stretch stretch : history.stretches()) {
			if (stretch.isFree() && stretch.lastNanos() - stretch.firstNanos() > SHORTEST_NANOS) {
				waits.undisturbed(stretch.name(), new Span(stretch.firstNanos(), stretch.lastNanos()))
					.forEach((span) -> this.gaps.add(new Gap(stretch.name(), span)));
			}
		}
	}

	List<String> leftLongerThan(Duration limit) {
		return describe((gap) -> gap.isLongerThan(limit));
	}

	/**
	 * Return the same, except for gaps that are already reported.
	 */
	List<String> leftLongerThan(Duration limit, FreeLocks known) {
		return describe((gap) -> gap.isLongerThan(limit) && !known.gaps.contains(gap));
	}

	private List<String> describe(Predicate<Gap> which) {
		return this.gaps.stream()
			.filter(which)
			.map((gap) -> gap.describe() + new Circumstances(this.history, gap).describe())
			.toList();
	}

	long longestNanos() {
		return this.gaps.stream().mapToLong(Gap::nanos).max().orElse(0);
	}

	/**
	 * Return the longest time for which a free lock was not acquired right after a fault.
	 */
	long longestAfter(Window window) {
		long until = window.endNanos() + Waits.LONGEST_NANOS / 6;
		return this.gaps.stream()
			.mapToLong((gap) -> gap.span().within(window.endNanos(), until).nanos())
			.max()
			.orElse(0);
	}

}
