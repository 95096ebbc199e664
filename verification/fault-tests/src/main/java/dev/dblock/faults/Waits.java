package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Times at which an attempt waited for a lock and could have acquired it, because neither
 * its worker nor the servers were disturbed.
 */
final class Waits {

	static final long LONGEST_NANOS = Duration.ofSeconds(60).toNanos();

	private final List<Window> windows;

	private final Map<String, List<Attempt>> waits;

	Waits(History history) {
		this.windows = history.windows();
		this.waits = history.attempts()
			.stream()
			.filter((attempt) -> attempt.kind().isWaiting())
			.sorted(Comparator.comparingLong(Attempt::requestNanos))
			.collect(Collectors.groupingBy(Attempt::name));
	}

	/**
	 * Return when attempts waited undisturbed within a time.
	 * @param name the name of the lock
	 * @param time the time
	 * @return the combined times, in order
	 */
	List<Span> undisturbed(String name, Span time) {
		List<Attempt> waits = this.waits.getOrDefault(name, List.of());
		List<Span> spans = new ArrayList<>();
		for (int i = firstAfter(waits, time.from() - LONGEST_NANOS); i < waits.size(); i++) {
			Attempt wait = waits.get(i);
			if (wait.requestNanos() >= time.to()) {
				break;
			}
			Span both = time.within(wait.requestNanos(), wait.waitEndNanos());
			if (!both.isEmpty()) {
				spans.addAll(undisturbed(wait.worker(), both));
			}
		}
		return Span.union(spans);
	}

	private List<Span> undisturbed(int worker, Span time) {
		List<Span> undisturbed = List.of(time);
		for (Window window : this.windows) {
			if (window.isFor(worker) && window.overlaps(time.from(), time.to())) {
				undisturbed = undisturbed.stream()
					.flatMap((span) -> span.without(window.beginNanos(), window.endNanos()).stream())
					.toList();
			}
		}
		return undisturbed;
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

}
