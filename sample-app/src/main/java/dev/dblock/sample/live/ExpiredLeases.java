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
 * Finds leases that ended without a release, by what the server said before and says now:
 * their holders cannot tell.
 */
final class ExpiredLeases {

	/** One who looks more seldom may have missed a renewal and a release. */
	private static final Duration LONGEST_GAP = Duration.ofSeconds(2);

	/** Who has released tells so soon; those who look seldom are given as many looks. */
	private static final int LOOKS_FOR_A_RELEASE = 7;

	private final Map<String, LockInfo> before = new HashMap<>();

	private final Map<LockInfo, Integer> doubtful = new LinkedHashMap<>();

	private @Nullable Instant lookedAt;

	/**
	 * Look at all locks.
	 * @param locks as the server has them now
	 * @param now when that was
	 * @param released whether somebody has told that the holder of this lock released it
	 * @return those that have expired, as they were: since the last look, or, where that
	 * was too long ago to know, since an earlier one
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
