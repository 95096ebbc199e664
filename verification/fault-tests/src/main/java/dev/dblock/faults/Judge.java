package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Judges a history, without knowledge of how it came about.
 */
final class Judge {

	/**
	 * Maximum time for which a free lock may remain unused outside of faults while an
	 * attempt waits for it.
	 */
	static final Duration UNTAKEN_LIMIT = Duration.ofSeconds(2);

	/**
	 * A request to a primary that is merely frozen takes up to its limit of 2.5 s before
	 * another request can go to the next primary.
	 */
	private static final Duration ELECTED_LIMIT = Duration.ofSeconds(4);

	/**
	 * Records lag behind events, because a handle is checked only at intervals.
	 */
	private static final Duration LAG = Duration.ofSeconds(2);

	private static final NavigableMap<Long, Long> NO_BLOCKS = Collections.emptyNavigableMap();

	private final History history;

	private final FreeLocks freeLocks;

	private final EmptyLocks emptyLocks;

	private final LongLeases longLeases;

	Judge(History history) {
		this.history = history;
		this.freeLocks = new FreeLocks(history);
		this.emptyLocks = new EmptyLocks(history);
		this.longLeases = new LongLeases(history);
	}

	List<Finding> findings() {
		List<String> lostUnfenced = lostUpdates(Writing.UNFENCED);
		List<Finding> findings = new ArrayList<>(
				List.of(Finding.rule("overlaps of two handles that claimed the lock", overlaps()),
						Finding.rule("tokens that were not higher than all before", fallingTokens()),
						Finding.rule("tokens granted twice", repeatedTokens()),
						Finding.rule("handles that held the lock again after they had lost it", heldAfterLoss()),
						Finding.rule("lost updates, refused by token", lostUpdates(Writing.TOKEN)),
						Finding.rule("lost updates, in transactions", lostUpdates(Writing.TRANSACTION)),
						Finding.figure("lost updates, unfenced (not promised)", lostUnfenced)));
		findings.addAll(new Ledger(this.history).findings());
		findings.addAll(times());
		findings.addAll(List.of(
				Finding.rule("leases of 10 s lost while nothing happened but elections of less than 5 s",
						this.longLeases.lost()),
				Finding.rule("attempts that never came to an end", unfinished()),
				Finding.rule("workers that did not stop", this.history.stuck())));
		findings
			.addAll(new Power(this.history).findings(lostUnfenced.size(), this.longLeases.renewedThroughElections()));
		return findings;
	}

	private List<Finding> times() {
		return List.of(
				Finding.rule("free locks left for more than " + UNTAKEN_LIMIT.toSeconds() + " s while a thread waited",
						this.freeLocks.leftLongerThan(UNTAKEN_LIMIT)),
				Finding.rule(
						"free locks left for more than " + ELECTED_LIMIT.toSeconds()
								+ " s after an election, though a fault went on",
						new FreeLocks(this.history.endedByElections()).leftLongerThan(ELECTED_LIMIT, this.freeLocks)),
				Finding.rule("names that no thread entered for more than " + UNTAKEN_LIMIT.toSeconds()
						+ " s while a thread waited", this.emptyLocks.leftLongerThan(UNTAKEN_LIMIT)),
				Finding.figure("names that no thread entered until the server ended a transaction",
						this.emptyLocks.behindTransactions(UNTAKEN_LIMIT)),
				Finding.rule("locks without a holder for more than a lease", orphans()),
				Finding.rule("leases that had ended and were renewed", revived()));
	}

	private Map<String, List<Attempt>> claimedByName() {
		return this.history.attempts()
			.stream()
			.filter(Attempt::isClaimed)
			.sorted(Comparator.comparingLong(Attempt::enterStamp))
			.collect(Collectors.groupingBy(Attempt::name));
	}

	private List<String> overlaps() {
		List<String> cases = new ArrayList<>();
		for (List<Attempt> sections : claimedByName().values()) {
			Attempt last = sections.get(0);
			for (Attempt section : sections.subList(1, sections.size())) {
				if (section.enterStamp() < last.heldStamp()) {
					cases.add(describe(last) + " still held the lock when it was entered by " + describe(section));
				}
				last = (section.heldStamp() > last.heldStamp()) ? section : last;
			}
		}
		return cases;
	}

	private List<String> fallingTokens() {
		List<String> cases = new ArrayList<>();
		for (List<Attempt> sections : claimedByName().values()) {
			Attempt highest = sections.get(0);
			for (Attempt section : sections.subList(1, sections.size())) {
				if (section.token() <= highest.token()) {
					cases.add(describe(section) + " came after " + describe(highest));
				}
				else {
					highest = section;
				}
			}
		}
		return cases;
	}

	private List<String> repeatedTokens() {
		List<String> cases = new ArrayList<>();
		Set<String> seen = new HashSet<>();
		for (Attempt attempt : this.history.attempts()) {
			if (attempt.isGranted() && !seen.add(attempt.name() + attempt.token())) {
				cases.add(describe(attempt));
			}
		}
		return cases;
	}

	private List<String> heldAfterLoss() {
		return cases(Attempt::heldAfterLoss);
	}

	private List<String> cases(Predicate<Attempt> wrong) {
		return this.history.attempts().stream().filter(wrong).map(Judge::describe).toList();
	}

	private List<String> lostUpdates(Writing writing) {
		List<String> cases = new ArrayList<>();
		Map<String, Attempt> writers = new HashMap<>();
		for (Attempt attempt : this.history.attempts()) {
			if (attempt.writing() == writing && attempt.written() == Written.CONFIRMED) {
				Attempt other = writers.putIfAbsent(attempt.name() + " " + attempt.value(), attempt);
				if (other != null) {
					cases.add("both " + describe(other) + " and " + describe(attempt) + " wrote " + attempt.value());
				}
			}
		}
		return cases;
	}

	/**
	 * Find leases that outlasted their holders for too long. A lease may do so by its own
	 * length and the allowance: after a crash, or if the answer to a grant was lost. The
	 * token identifies the holder, since the token of the document is the last one of the
	 * granted block.
	 */
	private List<String> orphans() {
		Map<String, NavigableMap<Long, Long>> lastClaims = new HashMap<>();
		for (Stretch stretch : this.history.stretches()) {
			lastClaims.computeIfAbsent(stretch.name(), (name) -> new TreeMap<>())
				.merge(stretch.token(), stretch.firstNanos(), Math::min);
		}
		for (Attempt attempt : this.history.attempts()) {
			NavigableMap<Long, Long> blocks = lastClaims.getOrDefault(attempt.name(), NO_BLOCKS);
			Long block = attempt.isGranted() ? blocks.ceilingKey(attempt.token()) : null;
			if (block != null) {
				blocks.merge(block, claimEnd(attempt) + attempt.extensionNanos(), Math::max);
			}
		}
		List<String> cases = new ArrayList<>();
		for (Stretch stretch : this.history.stretches()) {
			if (!stretch.isFree()) {
				long claimed = lastClaims.getOrDefault(stretch.name(), NO_BLOCKS)
					.getOrDefault(stretch.token(), stretch.firstNanos());
				long over = stretch.lastNanos() - claimed;
				if (over > LockName.untilFree(stretch.name()).plus(LAG).toNanos()) {
					cases.add(String.format(Locale.ROOT, "'%s' (token block of %d) was held for another %,d ms",
							stretch.name(), stretch.token(), over / 1_000_000));
				}
			}
		}
		return cases;
	}

	private static long claimEnd(Attempt attempt) {
		return switch (attempt.outcome()) {
			case RELEASED -> Math.max(attempt.endNanos(), attempt.heldNanos());
			case LOST, OPEN, UNAVAILABLE, FAILED, STOPPED -> Math.max(attempt.enterNanos(), attempt.heldUntilNanos());
		};
	}

	/**
	 * Find locks that the servers had as free, and then as held without another grant. A
	 * change of the primary is excluded, because a different clock then decides which
	 * leases have expired.
	 */
	private List<String> revived() {
		List<String> cases = new ArrayList<>();
		Map<String, Stretch> before = new HashMap<>();
		for (Stretch stretch : this.history.stretches()) {
			Stretch last = before.put(stretch.name(), stretch);
			if (last != null && last.isFree() && !stretch.isFree() && last.token() == stretch.token()
					&& this.history.windows()
						.stream()
						.noneMatch((window) -> window.isForAll()
								&& window.overlaps(last.lastNanos() - LAG.toNanos(), stretch.firstNanos()))) {
				cases.add(String.format(Locale.ROOT, "'%s' (token block of %d)", stretch.name(), stretch.token()));
			}
		}
		return cases;
	}

	private List<String> unfinished() {
		return cases((attempt) -> attempt.outcome() == Outcome.OPEN && attempt.endNanos() == 0);
	}

	static String describe(Attempt attempt) {
		return String.format(Locale.ROOT, "worker %d (life %d) with token %d of '%s' (%s, %s)", attempt.worker(),
				attempt.life(), attempt.token(), attempt.name(), attempt.kind(), attempt.outcome());
	}

}
