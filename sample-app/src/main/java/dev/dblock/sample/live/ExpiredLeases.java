package dev.dblock.sample.live;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Predicate;

import dev.dblock.LockInfo;
import org.jspecify.annotations.Nullable;

/**
 * Finds leases that ended without a release, by comparing earlier and current states of
 * the server, since their holders cannot report it.
 */
final class ExpiredLeases {

	/** If the last look was longer ago, a renewal and a release may have been missed. */
	private static final Duration LONGEST_GAP = Duration.ofSeconds(2);

	/**
	 * A release is reported soon after it. Counted in looks, so that an instance that
	 * looks rarely waits longer.
	 */
	private static final int LOOKS_FOR_A_RELEASE = 7;

	private final Map<String, LockInfo> before = new HashMap<>();

	private final Map<LockInfo, Integer> doubtful = new LinkedHashMap<>();

	private @Nullable Instant lookedAt;

	/**
	 * Compare all locks with the last look.
	 * @param locks the current locks on the server
	 * @param now the time of this look
	 * @param released whether a release of the lock by its holder has been reported
	 * @return the expired leases in their last state: those since the last look, or, if
	 * that was too long ago to know, those since an earlier one
	 */
	List<LockInfo> look(List<LockInfo> locks, Instant now, Predicate<LockInfo> released) {
		List<LockInfo> expired = settleDoubts(released);
		boolean late = this.lookedAt != null && Duration.between(this.lookedAt, now).compareTo(LONGEST_GAP) > 0;
		for (LockInfo lock : locks) {
			LockInfo last = this.before.put(lock.name(), lock);
			if (last == null || !last.held()) {
				continue;
			}
			if (Objects.equals(last.holder(), lock.holder())) {
				if (!lock.held()) {
					expired.add(lock);
				}
			}
			else if (isGrantedAfterTheEndOf(last, lock)) {
				if (late) {
					this.doubtful.put(last, LOOKS_FOR_A_RELEASE);
				}
				else {
					expired.add(last);
				}
			}
		}
		this.lookedAt = now;
		return expired;
	}

	private List<LockInfo> settleDoubts(Predicate<LockInfo> released) {
		this.doubtful.keySet().removeIf(released);
		this.doubtful.replaceAll((lock, looks) -> looks - 1);
		List<LockInfo> unreleased = new ArrayList<>();
		this.doubtful.forEach((lock, looks) -> {
			if (looks == 0) {
				unreleased.add(lock);
			}
		});
		unreleased.forEach(this.doubtful::remove);
		return unreleased;
	}

	private static boolean isGrantedAfterTheEndOf(LockInfo last, LockInfo now) {
		Instant end = last.expiresAt();
		Instant next = now.acquiredAt();
		return end != null && next != null && !next.isBefore(end);
	}

}
