package dev.dblock.actuate;

import dev.dblock.LockInfo;
import org.jspecify.annotations.Nullable;

/**
 * Result of taking a lock away from its holder.
 *
 * @param released whether the lock was taken away from a holder
 * @param before the previous state of the lock, or {@code null} if there is no such lock
 * @param meaning the consequences for the holder and for waiting callers
 */
public record ForcedRelease(boolean released, @Nullable LockInfo before, String meaning) {

	static ForcedRelease ofNothing() {
		return new ForcedRelease(false, null,
				"There is no such lock. Give the full name, as it is listed, and use the parameter 'name' if a path cannot carry it");
	}

	static ForcedRelease ofNoDatabase(String reason) {
		return new ForcedRelease(false, null, "Nothing was changed. " + reason);
	}

	static ForcedRelease of(LockInfo before, boolean released, boolean atOnce) {
		if (!released) {
			return new ForcedRelease(false, before, "This lock is not held, and nothing was changed");
		}
		return new ForcedRelease(true, before,
				holder(before) + (atOnce ? exclusionGivenUp(before) : exclusionKept(before)));
	}

	private static String holder(LockInfo lock) {
		return lock.held() ? "It was held by %s (thread %s) since %s, for %s. ".formatted(lock.acquirer(),
				lock.thread(), lock.acquiredAt(), lock.why()) : "";
	}

	private static String exclusionKept(LockInfo lock) {
		return ("The holder continues until it notices at its next renewal, a third of its lease from the last one, or"
				+ " later if it has extended the lease; if it is not renewed, when it renews, extends or releases the"
				+ " lock by itself, or its lease ends. Then it has lost the lock: its handle throws LockLostException,"
				+ " and its thread is interrupted if it asked for that. The name is free for others at %s, when its"
				+ " lease ends, so no other holder overlaps it")
			.formatted(lock.expiresAt());
	}

	private static String exclusionGivenUp(LockInfo lock) {
		return ("EXCLUSION IS GIVEN UP: the name is free for other instances at once, and the holder, unless it is gone, continues"
				+ " beside them until it notices at its next renewal, a third of its lease from the last one, or later"
				+ " if it has extended the lease; if it is not renewed, until it renews, extends or releases the lock"
				+ " by itself, or its lease would have ended%s. Until then isHeld() and ensureHeld() know nothing of"
				+ " it. What it writes meanwhile can be recognized only by its fencing token, which is not above %d")
			.formatted((lock.expiresAt() != null) ? " (" + lock.expiresAt() + ")" : "", lock.token());
	}

}
