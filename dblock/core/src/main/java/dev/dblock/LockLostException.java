package dev.dblock;

/**
 * Thrown if the lock is no longer held, although the work under it was not finished, or
 * was finished too late. Another process may have done the same work. Check the data that
 * was written meanwhile, unless it was fenced by the token.
 */
public class LockLostException extends LockException {

	private static final long serialVersionUID = 1L;

	private final long token;

	private final LossReason reason;

	public LockLostException(String name, long token, LossReason reason) {
		super(name, "The lock '%s' (fencing token %d) is no longer held: %s. %s".formatted(name, token,
				reason.description(), advice(reason)));
		this.token = token;
		this.reason = reason;
	}

	private static String advice(LossReason reason) {
		return switch (reason) {
			case RELEASED -> "Acquire it again instead of using the released handle";
			case EXPIRED -> "Another process may hold it now; check what was written under this token, "
					+ "and give the lock a longer lease if the process was only slow";
			case MAX_HOLD -> "Another process may hold it now; raise maxHold if the work may take that long";
			case TAKEN_OVER, SHUTDOWN -> "Another process may hold it now; check what was written under this token";
		};
	}

	/**
	 * Return the fencing token of the lost grant.
	 * @return the token
	 */
	public long token() {
		return this.token;
	}

	/**
	 * Return why the lock was lost.
	 * @return the reason
	 */
	public LossReason reason() {
		return this.reason;
	}

}
