package dev.dblock.faults;

import java.time.Duration;
import java.util.List;
import java.util.stream.LongStream;

/**
 * Effects of elections on leases of ten seconds. Short elections without any other fault
 * must not affect them.
 */
final class LongLeases {

	private static final Duration LEASE = Duration.ofSeconds(10);

	private static final Duration SHORT = Duration.ofSeconds(5);

	private final History history;

	private final List<Attempt> sections;

	LongLeases(History history) {
		this.history = history;
		this.sections = history.attempts()
			.stream()
			.filter((attempt) -> attempt.isGranted() && LockName.leaseOf(attempt.name()).equals(LEASE))
			.toList();
	}

	List<String> lost() {
		return this.sections.stream()
			.filter((section) -> section.lostNanos() != 0 && isJudged(section.worker(), section.lostNanos()))
			.map(Judge::describe)
			.toList();
	}

	/**
	 * Count the sections that began before an election, held their lock after it, and had
	 * it renewed since it began. A section counts only if a loss at some moment would
	 * have been judged.
	 */
	long renewedThroughElections() {
		List<Window> elections = this.history.windows().stream().filter(Window::isOfElection).toList();
		return this.sections.stream()
			.filter((section) -> elections.stream().anyMatch((election) -> isRenewedThrough(section, election)))
			.count();
	}

	private boolean isRenewedThrough(Attempt section, Window election) {
		long end = election.beginNanos() + LEASE.toNanos();
		return section.enterNanos() < election.beginNanos() && section.heldNanos() > election.endNanos()
				&& section.heldUntilNanos() > end && isEverJudged(section.worker(), election.endNanos(), end);
	}

	/**
	 * Return whether a loss within a time would be judged at any moment. Only the start,
	 * and the moments ten seconds after the end of a window, need to be checked: the
	 * number of windows within the last ten seconds decreases only there.
	 */
	private boolean isEverJudged(int worker, long from, long to) {
		return LongStream
			.concat(LongStream.of(from),
					this.history.windows().stream().mapToLong((window) -> window.endNanos() + LEASE.toNanos()))
			.anyMatch((nanos) -> nanos >= from && nanos <= to && isJudged(worker, nanos));
	}

	/**
	 * Return whether there was nothing but short elections in the ten seconds before.
	 */
	private boolean isJudged(int worker, long nanos) {
		List<Window> meanwhile = this.history.windows()
			.stream()
			.filter((window) -> window.isFor(worker) && window.overlaps(nanos - LEASE.toNanos(), nanos))
			.toList();
		return meanwhile.stream().allMatch(Window::isOfPrimary) && together(meanwhile) < SHORT.toNanos();
	}

	private static long together(List<Window> windows) {
		return Span.union(windows.stream().map(Window::span).toList()).stream().mapToLong(Span::nanos).sum();
	}

}
