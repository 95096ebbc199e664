package dev.dblock;

/**
 * The thread was interrupted while it asked or waited for a lock. The lock is not held,
 * and the thread's interrupt status is set again.
 */
public class LockInterruptedException extends LockException {

	private static final long serialVersionUID = 1L;

	public LockInterruptedException(String name, Throwable cause) {
		super(name, "The thread was interrupted before it got the lock '%s'; the lock is not held".formatted(name),
				cause);
	}

}
