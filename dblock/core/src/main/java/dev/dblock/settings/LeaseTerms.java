package dev.dblock.settings;

import java.time.Duration;

import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.claim.Claim;
import dev.dblock.store.LeaseKey;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;

/**
 * Complete and checked options.
 *
 * @param lease how long the store keeps the lock without hearing from the holder
 * @param waitUpTo how long to wait for the lock; zero for a claim with a time limit
 * @param minHold how long the lock remains unavailable from the grant
 * @param maxHold how long the lease is renewed from the grant; zero means no limit
 * @param autoRenew whether the lease is renewed automatically
 * @param whenLost what happens to the acquiring thread if the lease is lost
 * @param why the purpose of the lock
 * @param claim what the store decides and records with the grant
 * @param askable whether the holder can be asked to run its work once more
 * @param permits how many holders the lock has at most; zero for a plain lock
 */
public record LeaseTerms(Duration lease, Duration waitUpTo, Duration minHold, Duration maxHold, boolean autoRenew,
		WhenLost whenLost, @Nullable String why, @Nullable Claim claim, boolean askable, int permits) {

	/** The unit of the stored dates. */
	private static final Duration SHORTEST_LEASE = Duration.ofMillis(1);

	public static final Duration MAX_LEASE = Duration.ofDays(365);

	private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

	public static LeaseTerms of(LockOptions options) {
		Duration lease = required(options.lease(), "lease");
		boolean autoRenew = required(options.autoRenew(), "autoRenew");
		checkLease(lease, autoRenew);
		Duration minHold = required(options.minHold(), "minimum hold");
		if (minHold.compareTo(lease) > 0) {
			throw new IllegalArgumentException(("The minimum hold (%s) is longer than the lease (%s): the lock of a"
					+ " crashed holder would become free sooner than that of a holder that finished. Make the lease at"
					+ " least as long")
				.formatted(Durations.written(minHold), Durations.written(lease)));
		}
		Duration maxHold = required(options.maxHold(), "maximum hold");
		if (!maxHold.isZero() && minHold.compareTo(maxHold) > 0) {
			throw new IllegalArgumentException(("The minimum hold (%s) is longer than the maximum hold (%s), so a"
					+ " lease would end while the lock must stay unavailable. Change one of them")
				.formatted(Durations.written(minHold), Durations.written(maxHold)));
		}
		Duration wait = capped(required(options.waitUpTo(), "wait"));
		Claim claim = options.claim();
		// Not even if the settings of the lock say so: the caller cannot spare the thread
		if (claim != null && claim.answerWithin() != null) {
			wait = Duration.ZERO;
		}
		int permits = (options.permits() != null) ? options.permits() : 0;
		if (claim != null && permits > 0) {
			throw new IllegalArgumentException("A planned time of a job runs once, so its lock has no permits. Use"
					+ " another name for the lock, or omit the permits");
		}
		return new LeaseTerms(lease, wait, minHold, capped(maxHold), autoRenew,
				required(options.whenLost(), "whenLost"), options.why(), claim, false, permits);
	}

	/**
	 * Return the terms of a lock whose holder can be asked to run its work once more.
	 * Such a lock has no minimum hold, in which no holder could be asked.
	 * @param wait how long to wait for the lock
	 * @return a copy
	 * @throws IllegalArgumentException if the lock is for a claim
	 */
	public LeaseTerms toAskable(Duration wait) {
		if (this.claim != null) {
			throw new IllegalArgumentException("A run of a job for its planned time is not repeated on request");
		}
		if (this.permits > 0) {
			throw new IllegalArgumentException("Work under one of several permits is not repeated on request, since"
					+ " another holder may run at the same time. Omit the permits, or RUN_AGAIN");
		}
		return new LeaseTerms(this.lease, wait, Duration.ZERO, this.maxHold, this.autoRenew, this.whenLost, this.why,
				null, true, 0);
	}

	/**
	 * Whether the store records more with the grant than the lease, so that the lock is
	 * not handed over between threads of a process.
	 * @return whether there is a claim, or the holder can be asked
	 */
	public boolean isRecorded() {
		return this.claim != null || this.askable;
	}

	private static void checkLease(Duration lease, boolean autoRenew) {
		Duration shortest = autoRenew ? LockOptions.SHORTEST_RENEWED_LEASE : SHORTEST_LEASE;
		if (lease.compareTo(shortest) < 0) {
			String reason = autoRenew ? " to be renewed in time" : "";
			throw new IllegalArgumentException(
					("The lease of %s is too short%s. The shortest is %s; tens of seconds are typical")
						.formatted(Durations.written(lease), reason, Durations.written(shortest)));
		}
		refuseLong(lease);
	}

	private static void refuseLong(Duration lease) {
		if (lease.compareTo(MAX_LEASE) > 0) {
			throw new IllegalArgumentException(("The lease of %s is longer than %s. A lease is renewed while the work"
					+ " runs: it only has to be longer than the longest pause of a live process")
				.formatted(Durations.written(lease), Durations.written(MAX_LEASE)));
		}
	}

	/**
	 * Check the extension of a lease.
	 * @param atLeast the extension
	 * @param minHold how long the lock must remain unavailable
	 * @throws IllegalArgumentException if the extension is not positive or too long, or
	 * if the minimum hold is negative or longer
	 */
	public static void checkExtension(Duration atLeast, Duration minHold) {
		if (atLeast.isNegative() || atLeast.isZero()) {
			throw new IllegalArgumentException(
					"A lease can be extended only by a positive duration, not by " + Durations.written(atLeast));
		}
		refuseLong(atLeast);
		if (minHold.isNegative() || minHold.compareTo(atLeast) > 0) {
			throw new IllegalArgumentException(
					"The minimum hold of an extension must be between zero and the extension (%s), but is %s"
						.formatted(Durations.written(atLeast), Durations.written(minHold)));
		}
	}

	private static Duration capped(Duration duration) {
		return (duration.compareTo(LONGEST_WAIT) > 0) ? LONGEST_WAIT : duration;
	}

	private static <T> T required(@Nullable T value, String option) {
		if (value == null) {
			throw new IllegalArgumentException("The engine's own defaults do not set the " + option);
		}
		return value;
	}

	/**
	 * Notify the claim of a request that failed but may have been granted.
	 * @param key the acquisition
	 * @param failure why there is no answer, or why the answer is not used
	 * @return the end of such a grant, whose work never begins; {@code null} for a plain
	 * lock
	 */
	public Claim.@Nullable End inDoubt(LeaseKey key, Throwable failure) {
		if (this.claim != null) {
			this.claim.inDoubt(failure);
		}
		return end(key, Claim.How.ABANDONED, null);
	}

	/**
	 * Return the end of a grant, as a release records it.
	 * @param key the acquisition
	 * @param how how it ended
	 * @param failure the first failure of the work, if there was one
	 * @return the end; {@code null} for a plain lock
	 */
	public Claim.@Nullable End end(LeaseKey key, Claim.How how, @Nullable String failure) {
		return (this.claim != null) ? this.claim.end(key.name(), how, failure) : null;
	}

	/**
	 * Return the time limit of one attempt to acquire such a lease. A grant counts only
	 * while the lease lasts, but the first request, which also determines what the server
	 * supports, may take longer than a very short lease.
	 * @param timeout how long a request may take at most
	 * @return the lease or half a second if that is longer, but not more than the timeout
	 */
	public Duration acquireTimeout(Duration timeout) {
		boolean renewable = this.lease.compareTo(LockOptions.SHORTEST_RENEWED_LEASE) >= 0;
		return Durations.shorter(timeout, renewable ? this.lease : LockOptions.SHORTEST_RENEWED_LEASE);
	}

	/**
	 * Return the time limit of one attempt to renew such a lease, so that several
	 * attempts are possible before it ends.
	 * @return a sixth of the lease
	 */
	public Duration renewalTimeout() {
		return this.lease.dividedBy(6);
	}

}
