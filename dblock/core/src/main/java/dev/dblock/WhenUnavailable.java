package dev.dblock;

/**
 * Behavior of a locked method if its lock is not available within the wait.
 */
public enum WhenUnavailable {

	/**
	 * {@link #SKIP} for a scheduled method, {@link #THROW} for any other.
	 */
	DEFAULT,

	/**
	 * The method does not run and returns {@code null} (or an empty
	 * {@link java.util.Optional}). Rejected at startup for methods that return a
	 * primitive, which could not distinguish "skipped" from a result.
	 */
	SKIP,

	/**
	 * The method does not run, and a {@link LockUnavailableException} is thrown to its
	 * caller.
	 */
	THROW,

	/**
	 * For a method that brings something up to date, such as an index or a cache. The
	 * holder is asked to run the method once more after its current run, and the call
	 * returns as with {@link #SKIP}. Every call is served by a run that begins after it;
	 * any number of calls during a run cause one more run. Rejected at startup for a
	 * method that has several locks, a wait, a minimum hold or more than one parameter,
	 * returns a primitive, or returns before its work has ended, and for a scheduled
	 * method that runs once per planned time. A parameter must be a part of the name, and
	 * of a type that is a single value, since the holder runs the method with its own
	 * argument. All methods with the same name must do the same work.
	 * @see LockOperations#executeOrRunAgain(String, LockOptions, LockedTask)
	 */
	RUN_AGAIN

}
