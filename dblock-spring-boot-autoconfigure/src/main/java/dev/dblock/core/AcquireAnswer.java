package dev.dblock.core;

import dev.dblock.LockInfo;

/**
 * The store's answer to an {@link AcquireRequest}.
 */
public sealed interface AcquireAnswer {

	/**
	 * The lock is the caller's.
	 *
	 * @param token the fencing token of the grant
	 * @param lastToken the last token of the block that was reserved with it
	 */
	record Granted(long token, long lastToken) implements AcquireAnswer {
	}

	/**
	 * The lock is somebody else's, or in its minimum hold.
	 *
	 * @param lock its state
	 */
	record Refused(LockInfo lock) implements AcquireAnswer {
	}

}
