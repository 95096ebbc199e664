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

	/**
	 * Return an action that runs tasks one after another.
	 * @param tasks the tasks, at least one
	 * @return the action, whose result is {@code true}
	 * @throws IllegalArgumentException if there is no task
	 */
	static LockedAction<Boolean> inOrder(LockedTask... tasks) {
		if (tasks.length == 0) {
			throw new IllegalArgumentException("There is no work to run under the lock. Pass a lambda");
		}
		return () -> {
			for (LockedTask task : tasks) {
				task.run();
			}
			return true;
		};
	}

}
