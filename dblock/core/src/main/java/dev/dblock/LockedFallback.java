package dev.dblock;

import org.jspecify.annotations.Nullable;

/**
 * Work that runs without the lock if the lock is not available.
 *
 * @param <T> the type of the result
 */
@FunctionalInterface
public interface LockedFallback<T extends @Nullable Object> {

	/**
	 * Do the work without the lock.
	 * @param refusal the refusal, with the holder of the lock
	 * @return the result, in place of that of the locked work
	 * @throws Throwable if the work fails
	 */
	T unavailable(LockRefusal refusal) throws Throwable;

}
