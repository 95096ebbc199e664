package dev.dblock;

/**
 * Work that is done under a lock and has no result.
 *
 * @param <E> what the work may throw
 */
@FunctionalInterface
public interface LockedTask<E extends Throwable> {

	/**
	 * Do the work.
	 * @throws E when the work fails
	 */
	void run() throws E;

}
