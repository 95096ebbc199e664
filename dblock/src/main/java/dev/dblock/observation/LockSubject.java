package dev.dblock.observation;

import org.jspecify.annotations.Nullable;

/**
 * What a {@link LockActivity} is about.
 *
 * @param name the full name of the lock; {@code null} where it is about several
 * @param label what the lock is called in metrics, if somebody said so
 * @param token the fencing token; zero while there is none
 * @param locks how many locks it is about
 */
public record LockSubject(@Nullable String name, @Nullable String label, long token, int locks) {

	public static LockSubject lock(String name, @Nullable String label, long token) {
		return new LockSubject(name, label, token, 1);
	}

	public static LockSubject locks(int locks) {
		return new LockSubject(null, null, 0, locks);
	}

}
