package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Records from around a gap in the use of a lock, which help to explain it. Milliseconds
 * count from the start of the gap.
 */
final class Circumstances {

	private static final long AROUND_NANOS = Duration.ofSeconds(5).toNanos();

	private final History history;

	private final Gap gap;

	Circumstances(History history, Gap gap) {
		this.history = history;
		this.gap = gap;
	}

	/**
	 * Describe the holders before and after the gap, the failed attempts, the holders
	 * according to the servers, and the faults, each on a further line.
	 */
	String describe() {
		List<String> lines = new ArrayList<>(List.of(""));
		claims((claim) -> claim.enterNanos() <= this.gap.span().from(), Comparator.naturalOrder())
			.ifPresent((claim) -> lines.add("before: " + describe(claim)));
		claims((claim) -> claim.enterNanos() > this.gap.span().from(), Comparator.reverseOrder())
			.ifPresent((claim) -> lines.add("after: " + describe(claim)));
		this.history.attempts()
			.stream()
			.filter((attempt) -> attempt.name().equals(this.gap.name()) && !attempt.isClaimed()
					&& isAround(attempt.requestNanos(), attempt.endNanos()))
			.forEach((attempt) -> lines.add("in vain: " + describe(attempt)));
		this.history.stretches()
			.stream()
			.filter((stretch) -> stretch.name().equals(this.gap.name())
					&& isAround(stretch.firstNanos(), stretch.lastNanos()))
			.forEach((stretch) -> lines.add(String.format(Locale.ROOT, "servers: %s had it (token block of %d) %s",
					stretch.isFree() ? "nobody" : "'" + stretch.holder() + "'", stretch.token(),
					describe(stretch.firstNanos(), stretch.lastNanos()))));
		this.history.windows()
			.stream()
			.filter((window) -> isAround(window.beginNanos(), window.endNanos()))
			.forEach((window) -> lines.add("fault: %s%s %s".formatted(window.kind(),
					(window.worker() > 0) ? " (worker " + window.worker() + ")" : "",
					describe(window.beginNanos(), window.endNanos()))));
		return String.join("\n", lines);
	}

	private Optional<Attempt> claims(Predicate<Attempt> which, Comparator<Long> order) {
		return this.history.attempts()
			.stream()
			.filter((attempt) -> attempt.isClaimed() && attempt.name().equals(this.gap.name()))
			.filter(which)
			.max(Comparator.comparing(Attempt::enterNanos, order));
	}

	private boolean isAround(long fromNanos, long toNanos) {
		return fromNanos < this.gap.span().to() + AROUND_NANOS && toNanos > this.gap.span().from() - AROUND_NANOS;
	}

	private String describe(Attempt attempt) {
		String times = attempt.isGranted() ? String.format(Locale.ROOT,
				"asked at %,d, entered at %,d, held until %,d, ended at %,d", millis(attempt.requestNanos()),
				millis(attempt.enterNanos()), millis(attempt.heldNanos()), millis(attempt.endNanos()))
				: describe(attempt.requestNanos(), attempt.endNanos());
		return "%s, %s %s, %s".formatted(Judge.describe(attempt), attempt.writing(), attempt.written(), times);
	}

	private String describe(long fromNanos, long toNanos) {
		return String.format(Locale.ROOT, "from %,d to %,d", millis(fromNanos), millis(toNanos));
	}

	private long millis(long nanos) {
		return Duration.ofNanos(nanos - this.gap.span().from()).toMillis();
	}

}
