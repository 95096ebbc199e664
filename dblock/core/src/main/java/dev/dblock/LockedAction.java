package dev.dblock;

import org.jspecify.annotations.Nullable;

/**
 * Work that runs under a lock and has a result. It can throw any exception, which is
 * thrown unchanged by the method that runs the work.
 *
 * @param <T> the type of the result
 */
@FunctionalInterface
public interface LockedAction<T extends @Nullable Object> {

	/**
	 * Do the work.
	 * @return the result
	 * @throws Throwable if the work fails
	 */
	T run() throws Throwable;

}
