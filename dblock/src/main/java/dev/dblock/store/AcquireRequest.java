package dev.dblock.store;

import java.time.Duration;
import java.util.Objects;

import dev.dblock.job.JobFiring;
import org.jspecify.annotations.Nullable;

/**
 * One attempt to acquire a lock.
 *
 * @param key the name, and the random id of this attempt; an id is never sent for a
 * second attempt
 * @param lease how long the lock is asked for
 * @param acquirer the instance that asks
 * @param thread the thread that asks
 * @param why what the lock is for
 * @param timeout how long the request may take in all
 * @param tokens how many fencing tokens to reserve with the grant: one for the holder,
 * the others for those to whom the lock may be handed over
 * @param firing the firing of a job that the lock is for; {@code null} for a plain lock
 */
public record AcquireRequest(LeaseKey key, Duration lease, String acquirer, String thread, String why, Duration timeout,
		int tokens, @Nullable JobFiring firing) {

	/**
	 * As many as the clock of the store counts in a millisecond.
	 */
	public static final int USUAL_TOKENS = 1024;

	/**
	 * An attempt of which no more is known than that somebody wants the lock.
	 * @param key the name, and the random id of this attempt
	 * @param lease how long the lock is asked for
	 * @param acquirer the instance that asks
	 * @param thread the thread that asks
	 * @param why what the lock is for
	 * @param timeout how long the request may take in all
	 */
	public AcquireRequest(LeaseKey key, Duration lease, String acquirer, String thread, String why, Duration timeout) {
		this(key, lease, acquirer, thread, why, timeout, USUAL_TOKENS, null);
	}

	/**
	 * An attempt to acquire a plain lock.
	 * @param key the name, and the random id of this attempt
	 * @param lease how long the lock is asked for
	 * @param acquirer the instance that asks
	 * @param thread the thread that asks
	 * @param why what the lock is for
	 * @param timeout how long the request may take in all
	 * @param tokens how many fencing tokens to reserve with the grant
	 */
	public AcquireRequest(LeaseKey key, Duration lease, String acquirer, String thread, String why, Duration timeout,
			int tokens) {
		this(key, lease, acquirer, thread, why, timeout, tokens, null);
	}

	/**
	 * The same attempt for a firing of a job, which is granted only if the record of the
	 * job allows it. A run is not handed over, so one token is enough.
	 * @param firing the firing
	 * @return the request
	 */
	public AcquireRequest withFiring(JobFiring firing) {
		return new AcquireRequest(this.key, this.lease, this.acquirer, this.thread, this.why, this.timeout, 1, firing);
	}

	/**
	 * The id of the job: that of the firing, or else the name of the lock.
	 * @return the id
	 */
	public String jobId() {
		return jobId(this.key.name(), this.firing);
	}

	public static String jobId(String name, @Nullable JobFiring firing) {
		String id = (firing != null) ? firing.jobId() : null;
		return (id != null) ? id : name;
	}

	/**
	 * The firing, of a request that is known to have one.
	 * @return the firing
	 */
	public JobFiring requireFiring() {
		return Objects.requireNonNull(this.firing);
	}

}
