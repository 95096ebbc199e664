package dev.dblock.store;

/**
 * Is told by a {@link ReleaseFeed}.
 */
public interface ReleaseListener {

	/**
	 * From now on every release is told. What was released before this call may have been
	 * missed, so everybody who waits should try once.
	 */
	void listening();

	/**
	 * A lock was released, or its document removed.
	 * @param name its full name
	 */
	void released(String name);

	/**
	 * Releases may be missed for a while. The feed goes on trying, and tells
	 * {@link #listening()} when it has succeeded.
	 * @param reason what happened
	 */
	void interrupted(String reason);

	/**
	 * This store cannot tell of releases, and the feed will not try again until it is
	 * opened anew.
	 * @param reason why
	 */
	void unsupported(String reason);

}
