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
 * @param lease the requested lease
 * @param acquirer the instance that requests the lock
 * @param thread the thread that requests the lock
 * @param why the purpose of the lock
 * @param timeout how long the request may take in total
 * @param tokens how many fencing tokens to reserve with the grant: one for the holder,
 * the others for threads to which the lock may be handed over
 * @param firing the firing of a job that the lock is for; {@code null} for a plain lock
 */
public record AcquireRequest(LeaseKey key, Duration lease, String acquirer, String thread, String why, Duration timeout,
		int tokens, @Nullable JobFiring firing) {

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
		this(key, lease, acquirer, thread, why, timeout, USUAL_TOKENS, null);
	}

	/**
	 * Return the same attempt for a firing of a job, which is granted only if the record
	 * of the job allows it. A run is not handed over, so one token is sufficient.
	 * @param firing the firing
	 * @return the request
	 */
	public AcquireRequest withFiring(JobFiring firing) {
		return new AcquireRequest(this.key, this.lease, this.acquirer, this.thread, this.why, this.timeout, 1, firing);
	}

	/**
	 * Return the id of the job: that of the firing, or else the name of the lock.
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
	 * Return the firing of a request that is known to have one.
	 * @return the firing
	 */
	public JobFiring requireFiring() {
		return Objects.requireNonNull(this.firing);
	}

}
