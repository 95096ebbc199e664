package dev.dblock;

/**
 * What a locked method does when its lock is not available within the wait.
 */
public enum WhenUnavailable {

	/**
	 * {@link #SKIP} for a method that is scheduled, {@link #THROW} for any other.
	 */
	DEFAULT,

	/**
	 * The method does not run, and its caller gets {@code null} (or an empty
	 * {@link java.util.Optional}). Refused at start-up for methods that return a
	 * primitive, which could not tell "skipped" from a result.
	 */
	SKIP,

	/**
	 * The method does not run, and its caller gets a {@link LockUnavailableException}.
	 */
	THROW

}
