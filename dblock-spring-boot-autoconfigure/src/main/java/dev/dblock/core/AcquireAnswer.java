package dev.dblock.core;

import java.time.Instant;

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
	 * @param acquiredAt when it was granted, by the store's clock
	 */
	record Granted(long token, long lastToken, Instant acquiredAt) implements AcquireAnswer {
	}

	/**
	 * The lock is somebody else's, or in its minimum hold.
	 *
	 * @param lock its state
	 */
	record Refused(LockInfo lock) implements AcquireAnswer {
	}

}
