package dev.dblock;

/**
 * What happens to the thread that works under a lock when dblock notices that the lease
 * is lost. In both cases the handle, the listeners and the log report the loss at once,
 * and the caller gets a {@link LockLostException} at the end.
 */
public enum WhenLost {

	/**
	 * The thread goes on; it can ask {@link LockHandle#isHeld()}.
	 */
	NOTIFY,

	/**
	 * The thread that acquired the lock is interrupted, once, while its body still runs.
	 */
	INTERRUPT

}
