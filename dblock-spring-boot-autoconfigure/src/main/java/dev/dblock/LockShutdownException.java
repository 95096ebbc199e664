package dev.dblock;

/**
 * A lock was asked for, or waited for, while the application context closes. The lock is
 * not held.
 */
public class LockShutdownException extends LockException {

	private static final long serialVersionUID = 1L;

	public LockShutdownException(String name) {
		super(name, "The lock '%s' was not acquired: the application context that it belongs to is closing"
			.formatted(name));
	}

}
