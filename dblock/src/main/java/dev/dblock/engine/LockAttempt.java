package dev.dblock.engine;

import dev.dblock.LockHandle;
import dev.dblock.LockRefusal;

/**
 * The result of a request for a lock.
 */
public sealed interface LockAttempt {

	/**
	 * The lock is now held.
	 *
	 * @param handle the handle of the lock
	 */
	record Granted(LockHandle handle) implements LockAttempt {
	}

	/**
	 * The lock is held by another holder.
	 *
	 * @param refusal describes the lock and its holder
	 */
	record Refused(LockRefusal refusal) implements LockAttempt {
	}

}
