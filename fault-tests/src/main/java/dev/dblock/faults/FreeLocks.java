package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * For how long locks that the servers had as free were left untaken while somebody could
 * have taken them: a thread that waited, of a worker to which nothing happened, while
 * nothing happened to the servers.
 */
final class FreeLocks {

	/**
	 * Below this, nothing is to be seen at the pace at which the servers are looked at.
	 */
	private static final long SHORTEST_NANOS = Duration.ofMillis(100).toNanos();

	private static final long LONGEST_WAIT_NANOS = Duration.ofSeconds(60).toNanos();

	private final List<Window> windows;

	private final List<Gap> gaps = new ArrayList<>();

	FreeLocks(History history) {
		this.windows = history.windows();
		Map<String, List<Attempt>> waits = history.attempts()
			.stream()
			.filter((attempt) -> attempt.kind().isWaiting())
			.sorted(Comparator.comparingLong(Attempt::requestNanos))
			.collect(Collectors.groupingBy(Attempt::name));
		for (Stretch stretch : history.stretches()) {
			if (stretch.isFree() && stretch.lastNanos() - stretch.firstNanos() > SHORTEST_NANOS) {
				List<Span> waited = waited(stretch, waits.getOrDefault(stretch.name(), List.of()));
				for (Span span : Span.union(waited)) {
					this.gaps.add(new Gap(stretch.name(), span));
				}
			}
		}
	}

	private List<Span> waited(Stretch stretch, List<Attempt> waits) {
		Span free = new Span(stretch.firstNanos(), stretch.lastNanos());
		List<Span> spans = new ArrayList<>();
		for (int i = firstAfter(waits, free.from() - LONGEST_WAIT_NANOS); i < waits.size(); i++) {
			Attempt wait = waits.get(i);
			if (wait.requestNanos() >= free.to()) {
				break;
			}
			Span both = free.within(wait.requestNanos(), wait.waitEndNanos());
			if (!both.isEmpty()) {
				List<Span> undisturbed = List.of(both);
				for (Window window : this.windows) {
					if ((window.isForAll() || window.worker() == wait.worker())
							&& window.overlaps(both.from(), both.to())) {
						undisturbed = undisturbed.stream()
							.flatMap((span) -> span.without(window.beginNanos(), window.endNanos()).stream())
							.toList();
					}
				}
				spans.addAll(undisturbed);
			}
		}
		return spans;
	}

	private static int firstAfter(List<Attempt> waits, long nanos) {
		int low = 0;
		int high = waits.size();
		while (low < high) {
			int middle = (low + high) >>> 1;
			if (waits.get(middle).requestNanos() < nanos) {
				low = middle + 1;
			}
			else {
				high = middle;
			}
		}
		return low;
	}

	List<String> leftLongerThan(Duration limit) {
		return this.gaps.stream()
			.filter((gap) -> gap.span.nanos() > limit.toNanos())
			.map((gap) -> "'%s' for %,d ms".formatted(gap.name, gap.span.nanos() / 1_000_000))
			.toList();
	}

	long longestNanos() {
		return this.gaps.stream().mapToLong((gap) -> gap.span.nanos()).max().orElse(0);
	}

	/**
	 * The longest time for which a free lock was left untaken right after a fault.
	 */
	long longestAfter(Window window) {
		long until = window.endNanos() + LONGEST_WAIT_NANOS / 6;
		return this.gaps.stream().mapToLong((gap) -> gap.span.within(window.endNanos(), until).nanos()).max().orElse(0);
	}

	private record Gap(String name, Span span) {
	}

}
