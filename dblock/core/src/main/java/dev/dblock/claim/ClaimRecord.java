package dev.dblock.claim;

import org.jspecify.annotations.Nullable;

/**
 * The record of claims under one lock, for stores that decide in the memory of the
 * process. Immutable. All times are milliseconds of the store's clock.
 */
public interface ClaimRecord {

	/**
	 * Decide about a claim.
	 * @param request the request
	 * @param lock the lock that the record is stored with
	 * @param now the current time
	 * @return the decision
	 */
	Decision decide(Request request, LockState lock, long now);

	/**
	 * Return the record after a grant.
	 * @param decision the decision of this record about the request
	 * @param request the request
	 * @param token the fencing token of the grant
	 * @param now the time of the grant
	 * @return the record
	 */
	ClaimRecord granted(Decision decision, Request request, long token, long now);

	/**
	 * Return the record after a claim has expired that was refused because it came too
	 * late.
	 * @param request the request
	 * @param lock the lock that the record is stored with
	 * @param now the current time
	 * @return the record, unchanged if the same claim was recorded before; {@code null}
	 * if there is nothing to record, because another instance did so or the claim is not
	 * too late
	 */
	@Nullable ClaimRecord expired(Request request, LockState lock, long now);

	/**
	 * Return what the last grant has recorded.
	 * @param id the id of this record
	 * @return what was granted; {@code null} if there was no grant
	 */
	@Nullable Claimed claimed(String id);

	/**
	 * Return the record after a release.
	 * @param holder the id of the acquisition that is released
	 * @param end how the grant ended; {@code null} if an operator released the lock
	 * @param now the time of the release
	 * @return the record, unchanged if the last grant is another one
	 */
	ClaimRecord ended(String holder, Claim.@Nullable End end, long now);

	/**
	 * Whether an operator paused the claims.
	 * @return whether they are refused
	 */
	boolean paused();

	/**
	 * Return the record with its claims paused.
	 * @param by the operator
	 * @param now the current time
	 * @return the record
	 */
	ClaimRecord pausedBy(String by, long now);

	/**
	 * Return the record with its claims resumed.
	 * @param now the current time
	 * @return the record
	 */
	ClaimRecord resumed(long now);

	/**
	 * Return the record for operators.
	 * @param id the id of this record
	 * @param lock the lock that it is stored with
	 * @param heldBy the instance that holds that lock
	 * @param now the current time
	 * @return the record
	 */
	Status toStatus(String id, LockState lock, @Nullable String heldBy, long now);

	/**
	 * A claim as one request makes it.
	 *
	 * @param claim the claim
	 * @param key the record that decides about it
	 * @param holder the id of the acquisition
	 * @param acquirer the instance that requests the lock
	 */
	record Request(Claim claim, Claim.Key key, String holder, String acquirer) {

		public String id() {
			return this.key.id();
		}

	}

	/**
	 * The decision about a claim.
	 */
	interface Decision {

		/**
		 * Whether the record allows the claim and the lock is free.
		 * @return whether the lock is granted
		 */
		boolean granted();

		/**
		 * Return why the claim is refused.
		 * @return the reason; {@code null} if the claim is granted, and if the lock is
		 * held for another purpose
		 */
		Claim.@Nullable Verdict refusal();

	}

	/**
	 * The lock that a record is stored with.
	 *
	 * @param holder the id of the acquisition that has not released it
	 * @param taken whether its lease or its minimum hold has not ended
	 * @param token the token of the last acquisition
	 * @param expiresAt when the lease of the last acquisition ends, or has ended; zero if
	 * unknown
	 * @param acquiredAt when it was last acquired; zero if unknown
	 */
	record LockState(@Nullable String holder, boolean taken, long token, long expiresAt, long acquiredAt) {
	}

	/**
	 * A record as operators see it.
	 */
	interface Status {

	}

}
