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
	 * @param fenceRaised whether the fence was raised against an earlier holder, whose
	 * transactions cannot be committed any more
	 */
	record Granted(long token, long lastToken, Instant acquiredAt, boolean fenceRaised) implements AcquireAnswer {

		/**
		 * A grant after which there is no fence to be raised.
		 * @param token the fencing token of the grant
		 * @param lastToken the last token of the block that was reserved with it
		 * @param acquiredAt when it was granted, by the store's clock
		 */
		public Granted(long token, long lastToken, Instant acquiredAt) {
			this(token, lastToken, acquiredAt, false);
		}

	}

	/**
	 * The lock is somebody else's, or in its minimum hold.
	 *
	 * @param lock its state
	 */
	record Refused(LockInfo lock) implements AcquireAnswer {
	}

}
