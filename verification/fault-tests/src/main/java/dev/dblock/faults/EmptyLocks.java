package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Finds times at which no attempt was in a lock although a waiting one could have
 * entered, whatever the state on the servers. A lock that is granted to an acquirer that
 * never gets to work is also one that is not entered. The following times are excluded,
 * because they have to pass:
 * <ul>
 * <li>the rest of the lease of a holder that did not release it, or released it during a
 * disturbance of the holder or of the servers, and the allowance;</li>
 * <li>the rest of a lease whose acquirer may not have received the grant, for the same
 * reason; if it received it after all, the time until then;</li>
 * <li>the time until a transaction under the lock that has sent its fence has ended, and
 * the time during which its worker is disturbed: the take-over waits.</li>
 * </ul>
 */
final class EmptyLocks {

	/**
	 * Shorter gaps cannot be observed at the rate at which handles are checked.
	 */
	private static final long SHORTEST_NANOS = Duration.ofMillis(100).toNanos();

	/**
	 * Maximum delay of an observation of a server, or of an answer in transit.
	 */
	static final long LAG_NANOS = Duration.ofSeconds(1).toNanos();

	/**
	 * After this time, the server has ended every transaction: the limit is one minute,
	 * and the server checks it at intervals of up to one minute.
	 */
	private static final long TRANSACTION_NANOS = Duration.ofSeconds(125).toNanos();

	private final History history;

	private final List<Gap> gaps = new ArrayList<>();

	EmptyLocks(History history) {
		this.history = history;
		Waits waits = new Waits(history);
		Map<String, List<Attempt>> claims = history.attempts()
			.stream()
			.filter(Attempt::isClaimed)
			.sorted(Comparator.comparingLong(Attempt::enterNanos))
			.collect(Collectors.groupingBy(Attempt::name, TreeMap::new, Collectors.toList()));
		claims.forEach((name, attempts) -> {
			for (Span empty : empty(name, attempts)) {
				waits.undisturbed(name, empty).forEach((span) -> this.gaps.add(new Gap(name, span)));
			}
		});
	}

	private List<Span> empty(String name, List<Attempt> claims) {
		List<Span> taken = new ArrayList<>();
		for (Attempt claim : claims) {
			taken.add(new Span(claim.enterNanos(), takenUntil(claim)));
		}
		taken.addAll(new DoubtfulLeases(this.history, name, claims).spans());
		List<Span> empty = new ArrayList<>();
		long from = Long.MAX_VALUE;
		for (Span span : Span.union(taken)) {
			if (from < span.from() && span.from() - from > SHORTEST_NANOS) {
				empty.add(new Span(from, span.from()));
			}
			from = span.to();
		}
		empty.add(new Span(from, Long.MAX_VALUE));
		return empty;
	}

	private long takenUntil(Attempt claim) {
		long until = Math.max(claim.heldNanos(), claim.endNanos());
		Span end = new Span(claim.heldNanos(), until + LAG_NANOS);
		if (claim.outcome() != Outcome.RELEASED || this.history.isDisturbed(claim.worker(), end)) {
			long leaseEnd = Math.max(claim.heldUntilNanos(),
					claim.heldNanos() + LockName.leaseOf(claim.name()).toNanos() + claim.extensionNanos());
			until = ((claim.outcome() == Outcome.RELEASED) ? Math.max(until, leaseEnd) : leaseEnd)
					+ LockName.allowance(claim.name()).toNanos();
		}
		if (claim.isFenced()) {
			until = Math.max(until, claim.endNanos());
			for (Window window : this.history.windows()) {
				if (window.isFor(claim.worker()) && window.overlaps(claim.enterNanos(), until)) {
					until = Math.max(until, window.endNanos());
				}
			}
		}
		return until;
	}

	/**
	 * Return the longest gap for each name.
	 */
	Map<String, Gap> longest() {
		return this.gaps.stream()
			.collect(Collectors.toMap(Gap::name, Function.identity(),
					BinaryOperator.maxBy(Comparator.comparingLong(Gap::nanos)), TreeMap::new));
	}

	/**
	 * Return the names that were not entered for longer than a limit, without a reason.
	 */
	List<String> leftLongerThan(Duration limit) {
		return longerThan(limit, false);
	}

	/**
	 * Return the names that were not entered for longer than a limit because a
	 * transaction may have been open whose end had not been reported to the server.
	 */
	List<String> behindTransactions(Duration limit) {
		return longerThan(limit, true);
	}

	private List<String> longerThan(Duration limit, boolean behindTransaction) {
		List<String> cases = new ArrayList<>();
		for (Gap gap : this.gaps) {
			if (!gap.isLongerThan(limit)) {
				continue;
			}
			Optional<Attempt> open = openTransaction(gap);
			if (open.isPresent() == behindTransaction) {
				cases.add(gap.describe() + open
					.map((attempt) -> ": the transaction of " + Judge.describe(attempt) + " was open, its fence sent")
					.orElse("") + new Circumstances(this.history, gap).describe());
			}
		}
		return cases;
	}

	private Optional<Attempt> openTransaction(Gap gap) {
		return this.history.attempts()
			.stream()
			.filter((attempt) -> attempt.name().equals(gap.name()) && attempt.written() == Written.FENCED
					&& attempt.endNanos() < gap.span().to()
					&& attempt.endNanos() + TRANSACTION_NANOS > gap.span().from()
					&& !isEntered(gap, attempt.endNanos()))
			.findFirst();
	}

	/**
	 * Return whether another attempt has entered since a time. Such an attempt has waited
	 * for the end of the transaction.
	 */
	private boolean isEntered(Gap gap, long sinceNanos) {
		return this.history.attempts()
			.stream()
			.anyMatch((attempt) -> attempt.name().equals(gap.name()) && attempt.isClaimed()
					&& attempt.enterNanos() > sinceNanos && attempt.enterNanos() < gap.span().from());
	}

}
