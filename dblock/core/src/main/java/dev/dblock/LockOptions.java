package dev.dblock;

import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;

import dev.dblock.claim.Claim;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;

/**
 * Options for acquiring and holding a lock. Immutable: each method returns a copy. An
 * option that is not set ({@code null}) defaults to {@code dblock.*}.
 *
 * @param lease how long the server keeps the lock without hearing from its holder: at
 * least {@link #SHORTEST_RENEWED_LEASE}, or a millisecond without automatic renewal
 * @param waitUpTo how long to wait while another holder has the lock; with zero, the lock
 * is requested once
 * @param minHold how long the lock remains unavailable after the grant even if the work
 * ends sooner, so that instances whose schedules differ slightly do not run twice; not
 * longer than the lease; zero means none
 * @param maxHold how long after the grant the lease is renewed at most, so that work that
 * hangs does not keep the lock forever; zero means no limit
 * @param autoRenew whether the lease is renewed automatically while the lock is held
 * @param whenLost what happens to the acquiring thread if the lease is lost
 * @param why the purpose for which the lock is acquired; visible to callers that find the
 * lock held
 * @param label the name of the lock in metrics, from a small set of texts, such as
 * {@code order-*} for {@code order-4711}; for annotated methods the name as declared
 * @param claim the planned time of a job that the lock is acquired for; {@code null} for
 * a lock that is not related to a schedule
 * @param permits how many holders the lock has at most at the same time, each with a
 * lease and a fencing token of its own, from 1 to {@link #MOST_PERMITS}; {@code null} for
 * a plain lock, which has one. All instances should use the same number. Never defaults
 * to {@code dblock.*}, since that is a decision for each lock
 */
public record LockOptions(@Nullable Duration lease, @Nullable Duration waitUpTo, @Nullable Duration minHold,
		@Nullable Duration maxHold, @Nullable Boolean autoRenew, @Nullable WhenLost whenLost, @Nullable String why,
		@Nullable String label, @Nullable Claim claim, @Nullable Integer permits) {

	/**
	 * The largest number of permits of a lock.
	 */
	public static final int MOST_PERMITS = 1000;

	/**
	 * The shortest lease that can be renewed automatically. A renewal starts after a
	 * third of the lease, and each attempt may take a sixth. With a shorter lease, an
	 * ordinary garbage collection pause would use up all attempts.
	 */
	public static final Duration SHORTEST_RENEWED_LEASE = Duration.ofMillis(500);

	private static final LockOptions DEFAULTS = new LockOptions(null, null, null, null, null, null, null, null);

	/**
	 * Create options for a lock that is not related to a schedule.
	 * @param lease how long the server keeps the lock without hearing from its holder
	 * @param waitUpTo how long to wait for the lock; with zero, the lock is requested
	 * once
	 * @param minHold how long the lock is unavailable to others from the grant
	 * @param maxHold how long after the grant the lease is renewed at most
	 * @param autoRenew whether the lease is renewed automatically
	 * @param whenLost what happens to the acquiring thread if the lease is lost
	 * @param why the purpose for which the lock is acquired
	 * @param label the name of the lock in metrics
	 * @throws IllegalArgumentException if a lease is not positive or another duration is
	 * negative
	 */
	public LockOptions(@Nullable Duration lease, @Nullable Duration waitUpTo, @Nullable Duration minHold,
			@Nullable Duration maxHold, @Nullable Boolean autoRenew, @Nullable WhenLost whenLost, @Nullable String why,
			@Nullable String label) {
		this(lease, waitUpTo, minHold, maxHold, autoRenew, whenLost, why, label, null, null);
	}

	/**
	 * Check each option individually.
	 * @throws IllegalArgumentException if a lease is not positive, another duration is
	 * negative, or the number of permits is not possible
	 */
	public LockOptions {
		if (lease != null && (lease.isNegative() || lease.isZero())) {
			throw new IllegalArgumentException("The lease must be positive, but is " + Durations.written(lease));
		}
		refuseNegative("wait", waitUpTo, "zero tries once");
		refuseNegative("minimum hold", minHold, "zero means none");
		refuseNegative("maximum hold", maxHold, "zero means no limit");
		if (permits != null && (permits < 1 || permits > MOST_PERMITS)) {
			throw new IllegalArgumentException(
					"A lock has between 1 and %d permits, but %d were requested. One permit excludes all others"
						.formatted(MOST_PERMITS, permits));
		}
	}

	private static void refuseNegative(String option, @Nullable Duration value, String zero) {
		if (value != null && value.isNegative()) {
			throw new IllegalArgumentException(
					"The %s must not be negative, but is %s (%s)".formatted(option, Durations.written(value), zero));
		}
	}

	/**
	 * Return options that all default to {@code dblock.*}.
	 * @return the options
	 */
	public static LockOptions defaults() {
		return DEFAULTS;
	}

	/**
	 * Return options with a lease; the others default to {@code dblock.*}.
	 * @param lease how long the server keeps the lock without hearing from its holder
	 * @return the options
	 * @throws IllegalArgumentException if it is not positive
	 */
	public static LockOptions lease(Duration lease) {
		return DEFAULTS.withLease(lease);
	}

	/**
	 * Set the lease.
	 * @param lease how long the server keeps the lock without hearing from its holder
	 * @return a copy with it
	 * @throws IllegalArgumentException if it is not positive
	 */
	public LockOptions withLease(Duration lease) {
		return new LockOptions(lease, this.waitUpTo, this.minHold, this.maxHold, this.autoRenew, this.whenLost,
				this.why, this.label, this.claim, this.permits);
	}

	/**
	 * Set the longest wait.
	 * @param wait how long to wait while another holder has the lock; with zero, the lock
	 * is requested once
	 * @return a copy with it
	 * @throws IllegalArgumentException if it is negative
	 */
	public LockOptions waitUpTo(Duration wait) {
		return new LockOptions(this.lease, wait, this.minHold, this.maxHold, this.autoRenew, this.whenLost, this.why,
				this.label, this.claim, this.permits);
	}

	/**
	 * Set the minimum hold.
	 * @param minHold how long the lock remains unavailable after the grant, not longer
	 * than the lease
	 * @return a copy with it
	 * @throws IllegalArgumentException if it is negative
	 */
	public LockOptions minHold(Duration minHold) {
		return new LockOptions(this.lease, this.waitUpTo, minHold, this.maxHold, this.autoRenew, this.whenLost,
				this.why, this.label, this.claim, this.permits);
	}

	/**
	 * Set the maximum hold.
	 * @param maxHold how long after the grant the lease is renewed at most; zero means no
	 * limit
	 * @return a copy with it
	 * @throws IllegalArgumentException if it is negative
	 */
	public LockOptions maxHold(Duration maxHold) {
		return new LockOptions(this.lease, this.waitUpTo, this.minHold, maxHold, this.autoRenew, this.whenLost,
				this.why, this.label, this.claim, this.permits);
	}

	/**
	 * Set whether the lease is renewed automatically while the lock is held.
	 * @param autoRenew whether it is
	 * @return a copy with it
	 */
	public LockOptions autoRenew(boolean autoRenew) {
		return new LockOptions(this.lease, this.waitUpTo, this.minHold, this.maxHold, autoRenew, this.whenLost,
				this.why, this.label, this.claim, this.permits);
	}

	/**
	 * Set what happens to the acquiring thread if the lease is lost.
	 * @param whenLost what happens
	 * @return a copy with it
	 */
	public LockOptions whenLost(WhenLost whenLost) {
		return new LockOptions(this.lease, this.waitUpTo, this.minHold, this.maxHold, this.autoRenew, whenLost,
				this.why, this.label, this.claim, this.permits);
	}

	/**
	 * Set the purpose for which the lock is acquired.
	 * @param why the purpose, stored unchanged
	 * @return a copy with it
	 */
	public LockOptions why(String why) {
		return new LockOptions(this.lease, this.waitUpTo, this.minHold, this.maxHold, this.autoRenew, this.whenLost,
				why, this.label, this.claim, this.permits);
	}

	/**
	 * Set the name of the lock in metrics, where a large number of different names is not
	 * usable.
	 * @param label one of a small set of texts
	 * @return a copy with it
	 */
	public LockOptions label(String label) {
		return new LockOptions(this.lease, this.waitUpTo, this.minHold, this.maxHold, this.autoRenew, this.whenLost,
				this.why, label, this.claim, this.permits);
	}

	/**
	 * Acquire the lock for something that the store decides and records with the grant.
	 * @param claim the claim, such as a planned time of a job ({@code JobFiring.at})
	 * @return a copy with it
	 */
	public LockOptions claim(Claim claim) {
		return new LockOptions(this.lease, this.waitUpTo, this.minHold, this.maxHold, this.autoRenew, this.whenLost,
				this.why, this.label, claim, this.permits);
	}

	/**
	 * Let the lock have several holders at the same time.
	 * @param permits how many at most, from 1 to {@link #MOST_PERMITS}
	 * @return a copy with it
	 * @throws IllegalArgumentException if the number is not possible
	 */
	public LockOptions permits(int permits) {
		return new LockOptions(this.lease, this.waitUpTo, this.minHold, this.maxHold, this.autoRenew, this.whenLost,
				this.why, this.label, this.claim, permits);
	}

	/**
	 * Return the same options for several locks.
	 * @param names the names of the locks
	 * @param options the options
	 * @return the options by name
	 */
	static Map<String, LockOptions> forEach(Collection<String> names, LockOptions options) {
		Map<String, LockOptions> locks = new LinkedHashMap<>();
		names.forEach((name) -> locks.put(name, options));
		return locks;
	}

	/**
	 * Complete these options.
	 * @param defaults the options that apply where these are not set
	 * @return the completed options
	 */
	public LockOptions orElse(LockOptions defaults) {
		return new LockOptions(first(this.lease, defaults.lease), first(this.waitUpTo, defaults.waitUpTo),
				first(this.minHold, defaults.minHold), first(this.maxHold, defaults.maxHold),
				first(this.autoRenew, defaults.autoRenew), first(this.whenLost, defaults.whenLost),
				first(this.why, defaults.why), first(this.label, defaults.label), first(this.claim, defaults.claim),
				first(this.permits, defaults.permits));
	}

	private static <T> @Nullable T first(@Nullable T mine, @Nullable T other) {
		return (mine != null) ? mine : other;
	}

}
