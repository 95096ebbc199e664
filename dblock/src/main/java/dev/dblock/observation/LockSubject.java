package dev.dblock.observation;

import org.jspecify.annotations.Nullable;

/**
 * The subject of a {@link LockActivity}.
 *
 * @param name the full name of the lock; {@code null} for an activity on several locks
 * @param label the name of the lock in metrics, if set
 * @param token the fencing token; zero while there is none
 * @param locks the number of locks
 */
public record LockSubject(@Nullable String name, @Nullable String label, long token, int locks) {

	public static LockSubject lock(String name, @Nullable String label, long token) {
		return new LockSubject(name, label, token, 1);
	}

	public static LockSubject locks(int locks) {
		return new LockSubject(null, null, 0, locks);
	}

}
