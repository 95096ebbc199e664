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
	THROW

}
