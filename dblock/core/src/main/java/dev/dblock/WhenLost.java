package dev.dblock;

/**
 * Effect on the thread that works under a lock when dblock detects that the lease is
 * lost. In both cases, the handle, the listeners and the log report the loss at once, and
 * a {@link LockLostException} is thrown to the caller at the end.
 */
public enum WhenLost {

	/**
	 * The thread continues; it can check {@link LockHandle#isHeld()}.
	 */
	NOTIFY,

	/**
	 * The thread that acquired the lock is interrupted, once, while the work is still
	 * running.
	 */
	INTERRUPT

}
