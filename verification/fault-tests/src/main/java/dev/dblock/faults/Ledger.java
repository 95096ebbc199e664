package dev.dblock.faults;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Data that transactions have left, compared with the records of their writers. Only the
 * data shows a commit whose writer was killed or received no answer.
 * <p>
 * A writer reads the highest number under its lock, from a primary that a majority
 * confirms at that time. Before that, any transaction that could still commit under an
 * earlier token has been fenced off. If two transactions have the same number, the first
 * was not visible to its successor, and the fence should have rejected its commit.
 */
final class Ledger {

	private final History history;

	Ledger(History history) {
		this.history = history;
	}

	/**
	 * Return the broken rules, if the data was read.
	 */
	List<Finding> findings() {
		List<Committed> ledger = this.history.ledger();
		return (ledger == null) ? List.of()
				: List.of(Finding.rule("numbers that more than one transaction has committed", repeated(ledger)),
						Finding.rule("confirmed transactions whose number is not there", missing(ledger)));
	}

	private List<String> repeated(List<Committed> ledger) {
		return ledger.stream().filter((committed) -> committed.times() > 1).map(this::describe).toList();
	}

	private String describe(Committed committed) {
		return String.format(Locale.ROOT, "%d of '%s' is there %d times; it was written by %s", committed.value(),
				committed.lock(), committed.times(),
				transactions().filter(
						(attempt) -> attempt.name().equals(committed.lock()) && attempt.value() == committed.value())
					.map((attempt) -> Judge.describe(attempt) + ": " + attempt.written())
					.collect(Collectors.joining(", and by ")));
	}

	private List<String> missing(List<Committed> ledger) {
		Set<String> there = new HashSet<>();
		ledger.forEach((committed) -> there.add(committed.lock() + " " + committed.value()));
		List<String> cases = new ArrayList<>();
		transactions().filter((attempt) -> attempt.written() == Written.CONFIRMED)
			.filter((attempt) -> !there.contains(attempt.name() + " " + attempt.value()))
			.forEach((attempt) -> cases.add(Judge.describe(attempt) + " wrote " + attempt.value()));
		return cases;
	}

	private Stream<Attempt> transactions() {
		return this.history.attempts().stream().filter((attempt) -> attempt.writing() == Writing.TRANSACTION);
	}

}
