package dev.dblock.store;

/**
 * Listener of a {@link ReleaseFeed}.
 */
public interface ReleaseListener {

	/**
	 * Called when the feed reports every release from now on. Releases before this call
	 * may have been missed, so every waiting caller should try once.
	 */
	void listening();

	/**
	 * Called after a lock was released, or its document removed.
	 * @param name its full name
	 */
	void released(String name);

	/**
	 * Called when releases may be missed for a while. The feed keeps trying, and calls
	 * {@link #listening()} when it has succeeded.
	 * @param reason what happened
	 */
	void interrupted(String reason);

	/**
	 * Called if this store cannot report releases. The feed does not try again until it
	 * is opened again.
	 * @param reason why
	 */
	void unsupported(String reason);

}
