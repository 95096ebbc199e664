package dev.dblock;

import org.jspecify.annotations.Nullable;

/**
 * Work that is done under a lock and has a result.
 *
 * @param <T> the type of the result
 * @param <E> what the work may throw
 */
@FunctionalInterface
public interface LockedAction<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Do the work.
	 * @return the result
	 * @throws E when the work fails
	 */
	T run() throws E;

}
