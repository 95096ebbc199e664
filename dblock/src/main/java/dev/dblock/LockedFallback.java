package dev.dblock;

import org.jspecify.annotations.Nullable;

/**
 * What is done instead of the work when its lock is not available.
 *
 * @param <T> the type of the result
 * @param <E> what it may throw
 */
@FunctionalInterface
public interface LockedFallback<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Called without the lock.
	 * @param refusal who holds the lock
	 * @return the result in place of that of the work
	 * @throws E when it fails
	 */
	T unavailable(LockRefusal refusal) throws E;

}
