package dev.dblock.sample.live;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import dev.dblock.LockInfo;
import org.jspecify.annotations.Nullable;

/**
 * Finds leases that ended without a release, by what the server said before and says now:
 * their holders cannot tell.
 */
final class ExpiredLeases {

	/** One who looks more seldom may have missed a renewal and a release. */
	private static final Duration LONGEST_GAP = Duration.ofSeconds(2);

	private final Map<String, LockInfo> before = new HashMap<>();

	private @Nullable Instant lookedAt;

	/**
	 * Look at all locks.
	 * @param locks as the server has them now
	 * @param now when that was
	 * @return those that have expired since the last look, as they were
	 */
	List<LockInfo> look(List<LockInfo> locks, Instant now) {
		List<LockInfo> expired = new ArrayList<>();
		boolean known = this.lookedAt != null && Duration.between(this.lookedAt, now).compareTo(LONGEST_GAP) <= 0;
		for (LockInfo lock : locks) {
			LockInfo last = this.before.put(lock.name(), lock);
			if (known && last != null && last.held() && hasExpired(last, lock)) {
				expired.add(last);
			}
		}
		this.lookedAt = now;
		return expired;
	}

	private static boolean hasExpired(LockInfo last, LockInfo now) {
		if (Objects.equals(last.holder(), now.holder())) {
			return !now.held();
		}
		Instant end = last.expiresAt();
		Instant next = now.acquiredAt();
		return end != null && next != null && !next.isBefore(end);
	}

}
