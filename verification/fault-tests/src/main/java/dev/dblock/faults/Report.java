package dev.dblock.faults;

import java.io.PrintStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Prints the findings of the judge.
 */
final class Report {

	/**
	 * From this duration on, the circumstances of a gap are printed.
	 */
	private static final Duration WORTH_TELLING = Judge.UNTAKEN_LIMIT.dividedBy(2);

	private final History history;

	private final PrintStream out;

	Report(History history, PrintStream out) {
		this.history = history;
		this.out = out;
	}

	/**
	 * Print the complete report.
	 * @return whether no rule was broken
	 */
	boolean print() {
		List<Finding> findings = new Judge(this.history).findings();
		faults();
		attempts();
		findings.forEach((finding) -> finding.print(this.out));
		this.out.printf(Locale.ROOT, "longest time a free lock was left while a thread waited: %,d ms%n",
				new FreeLocks(this.history).longestNanos() / 1_000_000);
		new EmptyLocks(this.history).longest()
			.forEach((name, gap) -> this.out.printf(Locale.ROOT,
					"longest time that no thread entered '%s' while one waited, without rests of leases: %,d ms%s%n",
					name, gap.nanos() / 1_000_000, gap.isLongerThan(WORTH_TELLING)
							? new Circumstances(this.history, gap).describe().replace("\n", "\n          ") : ""));
		return findings.stream().allMatch(Finding::passed);
	}

	private void attempts() {
		long granted = this.history.attempts().stream().filter(Attempt::isGranted).count();
		Map<Outcome, Long> outcomes = this.history.attempts()
			.stream()
			.collect(Collectors.groupingBy(Attempt::outcome, TreeMap::new, Collectors.counting()));
		this.out.printf(Locale.ROOT, "%,d attempts, %,d sections; outcomes %s%n", this.history.attempts().size(),
				granted, outcomes);
		for (Writing writing : Writing.values()) {
			Map<Written, Long> written = this.history.attempts()
				.stream()
				.filter((attempt) -> writing != Writing.NONE && attempt.writing() == writing)
				.collect(Collectors.groupingBy(Attempt::written, TreeMap::new, Collectors.counting()));
			if (!written.isEmpty()) {
				this.out.printf(Locale.ROOT, "writes %s: %s%n", writing, written);
			}
		}
		this.out.printf(Locale.ROOT, "commits after the end of the lease, for which a take-over had to wait: %,d%n",
				this.history.attempts().stream().filter(Attempt::isCommittedLate).count());
		List<Committed> ledger = this.history.ledger();
		this.out.println("numbers that transactions have committed, in the data: "
				+ ((ledger != null) ? String.format(Locale.ROOT, "%,d", ledger.size())
						: "not looked at, since this run did not save them"));
		this.out.printf(Locale.ROOT, "leases of 10 s renewed through elections at which a loss would be judged: %,d%n",
				new LongLeases(this.history).renewedThroughElections());
	}

	private void faults() {
		FreeLocks freeLocks = new FreeLocks(this.history);
		FreeLocks afterElections = new FreeLocks(this.history.endedByElections());
		long[] entries = this.history.attempts()
			.stream()
			.filter(Attempt::isClaimed)
			.mapToLong(Attempt::enterNanos)
			.sorted()
			.toArray();
		Map<String, List<Window>> kinds = this.history.windows()
			.stream()
			.sorted(Comparator.comparing(Window::kind))
			.collect(Collectors.groupingBy(Window::kind, TreeMap::new, Collectors.toList()));
		this.out.printf(Locale.ROOT, "%-42s %5s %12s %16s %18s%n", "fault", "times", "longest, ms", "next section, ms",
				"free and left, ms");
		kinds.forEach((kind, windows) -> this.out.printf(Locale.ROOT, "%-42s %5d %,12d %,16d %,18d%n", kind,
				windows.size(), longest(windows),
				windows.stream().mapToLong((window) -> next(entries, window)).max().orElse(0),
				windows.stream()
					.mapToLong((window) -> (window.isElection() ? afterElections : freeLocks).longestAfter(window))
					.max()
					.orElse(0) / 1_000_000));
	}

	private static long longest(List<Window> windows) {
		return windows.stream()
			.mapToLong((window) -> Duration.ofNanos(window.endNanos() - window.beginNanos()).toMillis())
			.max()
			.orElse(0);
	}

	private static long next(long[] entries, Window window) {
		int index = Arrays.binarySearch(entries, window.endNanos());
		int next = (index >= 0) ? index : -index - 1;
		return (next < entries.length) ? (entries[next] - window.endNanos()) / 1_000_000 : 0;
	}

}
