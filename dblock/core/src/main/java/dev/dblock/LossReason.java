package dev.dblock;

/**
 * The reason why a handle no longer holds its lock.
 */
public enum LossReason {

	/**
	 * The lease ended before it was renewed: the server did not answer in time, the
	 * process was paused, or renewal was off.
	 */
	EXPIRED("its lease ended before it was renewed"),

	/**
	 * The server no longer has this acquisition as the holder: another one has acquired
	 * the lock, or its document was changed or deleted by hand.
	 */
	TAKEN_OVER("the server no longer shows this acquisition as the holder"),

	/**
	 * The maximum hold was reached, so the lease was no longer renewed and ended.
	 */
	MAX_HOLD("the maximum hold was reached, so the lease was allowed to end"),

	/**
	 * The application context was closed while the lock was held.
	 */
	SHUTDOWN("the application was shut down, so the lease is no longer renewed"),

	/**
	 * The handle itself was released or closed.
	 */
	RELEASED("it was released");

	private final String description;

	LossReason(String description) {
		this.description = description;
	}

	/**
	 * Return the reason as a part of a sentence about the lock.
	 * @return the description
	 */
	public String description() {
		return this.description;
	}

}
