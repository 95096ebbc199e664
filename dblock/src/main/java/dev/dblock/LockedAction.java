package dev.dblock;

import org.jspecify.annotations.Nullable;

/**
 * Work that runs under a lock and has a result.
 *
 * @param <T> the type of the result
 * @param <E> the type of exception that it can throw
 */
@FunctionalInterface
public interface LockedAction<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Do the work.
	 * @return the result
	 * @throws E if the work fails
	 */
	T run() throws E;

}
