package dev.dblock;

/**
 * Work that runs under a lock and has no result.
 *
 * @param <E> the type of exception that it can throw
 */
@FunctionalInterface
public interface LockedTask<E extends Throwable> {

	/**
	 * Do the work.
	 * @throws E if the work fails
	 */
	void run() throws E;

}
