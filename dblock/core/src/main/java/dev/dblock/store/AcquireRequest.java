package dev.dblock.store;

import java.time.Duration;

import dev.dblock.claim.Claim;
import dev.dblock.claim.ClaimRecord;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to acquire a lock.
 *
 * @param key the name, and the random id of this attempt; an id is never sent for a
 * second attempt
 * @param lease the requested lease
 * @param acquirer the instance that requests the lock
 * @param thread the thread that requests the lock
 * @param why the purpose of the lock
 * @param timeout how long the request may take in total
 * @param tokens how many fencing tokens to reserve with the grant: one for the holder,
 * the others for threads to which the lock may be handed over
 * @param claim what else the store decides and records; {@code null} for a plain lock
 * @param askable whether the holder can be {@linkplain LockRepository#ask asked} to run
 * its work once more
 */
public record AcquireRequest(LeaseKey key, Duration lease, String acquirer, String thread, String why, Duration timeout,
		int tokens, @Nullable Claim claim, boolean askable) {

	/**
	 * The number of tokens that the store's clock counts in a millisecond.
	 */
	public static final int USUAL_TOKENS = 1024;

	/**
	 * Create an attempt to acquire a plain lock, with the usual number of tokens.
	 * @param key the name, and the random id of this attempt
	 * @param lease the requested lease
	 * @param acquirer the instance that requests the lock
	 * @param thread the thread that requests the lock
	 * @param why the purpose of the lock
	 * @param timeout how long the request may take in total
	 */
	public AcquireRequest(LeaseKey key, Duration lease, String acquirer, String thread, String why, Duration timeout) {
		this(key, lease, acquirer, thread, why, timeout, USUAL_TOKENS, null, false);
	}

	/**
	 * Return the same attempt for a claim, which is granted only if its record allows it.
	 * Such a lock is not handed over, so one token is sufficient.
	 * @param claim the claim
	 * @return the request
	 */
	public AcquireRequest withClaim(Claim claim) {
		return new AcquireRequest(this.key, this.lease, this.acquirer, this.thread, this.why, this.timeout, 1, claim,
				false);
	}

	/**
	 * Return the same attempt for one of the permits of the lock.
	 * @param permit the number of the permit
	 * @return the request
	 */
	public AcquireRequest forPermit(int permit) {
		return new AcquireRequest(this.key.granted(permit), this.lease, this.acquirer, this.thread, this.why,
				this.timeout, this.tokens, this.claim, this.askable);
	}

	/**
	 * Return the claim as the rules for its record see it.
	 * @return the claim; {@code null} for a plain lock
	 */
	public ClaimRecord.@Nullable Request claimRequest() {
		return (this.claim != null)
				? new ClaimRecord.Request(this.claim, this.claim.key(this.key.name()), this.key.holder(), this.acquirer)
				: null;
	}

}
