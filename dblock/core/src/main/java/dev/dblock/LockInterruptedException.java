package dev.dblock;

/**
 * Thrown if the thread was interrupted while it requested or waited for a lock. The lock
 * is not held, and the thread's interrupt status is set again.
 */
public class LockInterruptedException extends LockException {

	private static final long serialVersionUID = 1L;

	public LockInterruptedException(String name, Throwable cause) {
		super(name,
				("The thread was interrupted before it acquired the lock '%s'. The lock is not held, and the work"
						+ " under it was not started. Find out what interrupted it: a task that was cancelled, or an"
						+ " executor that was shut down")
					.formatted(name),
				cause);
	}

}
