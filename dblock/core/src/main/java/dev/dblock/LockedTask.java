package dev.dblock;

/**
 * Work that runs under a lock and has no result. It can throw any exception, which is
 * thrown unchanged by the method that runs the work.
 */
@FunctionalInterface
public interface LockedTask {

	/**
	 * Do the work.
	 * @throws Throwable if the work fails
	 */
	void run() throws Throwable;

}
