package dev.dblock;

/**
 * Thrown if a lock is requested or waited for while the application context is closing.
 * The lock is not held.
 */
public class LockShutdownException extends LockException {

	private static final long serialVersionUID = 1L;

	public LockShutdownException(String name) {
		super(name,
				("The lock '%s' was not acquired: its application context is closing. The work under it was not"
						+ " started; leave it to another instance, or acquire the lock before the context closes")
					.formatted(name));
	}

}
