package dev.dblock.actuate;

import dev.dblock.LockInfo;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Result of a forced release.
 *
 * @param released whether the lock had a holder and was released
 * @param before the previous state of the lock, or {@code null} if there is no such lock
 * @param meaning the consequences for the holder and for waiting callers
 */
record ForcedRelease(boolean released, @Nullable LockInfo before, String meaning) implements OperationResponseBody {

	static ForcedRelease ofNothing() {
		return new ForcedRelease(false, null,
				"There is no such lock. Use the full name as listed, and pass it in the parameter 'name' if it cannot"
						+ " be part of a path");
	}

	static ForcedRelease ofNoDatabase(String reason) {
		return new ForcedRelease(false, null, "Nothing was changed. " + reason);
	}

	static ForcedRelease of(LockInfo before, boolean released, boolean atOnce) {
		if (!released) {
			return new ForcedRelease(false, before, "This lock is not held, so nothing was changed");
		}
		return new ForcedRelease(true, before,
				holder(before) + (atOnce ? exclusionGivenUp(before) : exclusionKept(before)));
	}

	private static String holder(LockInfo lock) {
		String permit = (lock.permits() > 1)
				? "This is one of the %d permits of the lock; the others were not released. ".formatted(lock.permits())
				: "";
		return permit + (lock.held() ? "It was held by %s (thread %s) since %s, for %s. ".formatted(lock.acquirer(),
				lock.thread(), lock.acquiredAt(), lock.why()) : "");
	}

	private static String exclusionKept(LockInfo lock) {
		return ("The holder continues until it notices the release: at its next renewal, which follows the last one"
				+ " after a third of the lease, or later if it extended the lease. A holder without automatic renewal"
				+ " notices it when it renews, extends or releases the lock itself, or when its lease ends. Then it"
				+ " has lost the lock: its handle throws LockLostException, and its thread is interrupted if it asked"
				+ " for that. The lock becomes free for others at %s, when its lease ends, so no other holder overlaps"
				+ " with it")
			.formatted(lock.expiresAt());
	}

	private static String exclusionGivenUp(LockInfo lock) {
		return ("EXCLUSION IS GIVEN UP: the lock is free for other instances at once. The holder, unless it is gone,"
				+ " continues beside them until it notices the release: at its next renewal, which follows the last"
				+ " one after a third of the lease, or later if it extended the lease. A holder without automatic"
				+ " renewal notices it when it renews, extends or releases the lock itself, or when its lease would"
				+ " have ended%s. Until then, isHeld() and ensureHeld() do not detect it. Its writes in the meantime"
				+ " can be recognized only by its fencing token, which is not above %d")
			.formatted((lock.expiresAt() != null) ? " (" + lock.expiresAt() + ")" : "", lock.token());
	}

}
