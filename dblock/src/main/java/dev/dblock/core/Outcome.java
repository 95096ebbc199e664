package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockInfo;
import dev.dblock.LockRefusal;
import dev.dblock.claim.Claim;
import dev.dblock.store.StoreFailureException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;

/**
 * The outcome of one attempt to acquire a lock: a handle, the present holder, or a
 * transient failure.
 *
 * @param handle the handle of a grant
 * @param holder the state of the lock at a refusal
 * @param failure the failure
 * @param verdict why a claim was refused, unless the lock is held for another purpose
 */
record Outcome(@Nullable LeasedLock handle, @Nullable LockInfo holder, @Nullable DataAccessException failure,
		Claim.@Nullable Verdict verdict) {

	/**
	 * The lock may be free, but it is the turn of other threads, in this process or
	 * elsewhere.
	 */
	static final Outcome OTHERS_FIRST = new Outcome(null, null, null, null);

	private static final String OTHERS_FIRST_REMARK = "Threads of this application are waiting for it, and others go"
			+ " first";

	static Outcome granted(LeasedLock handle) {
		return new Outcome(handle, null, null, null);
	}

	static Outcome refused(LockInfo holder) {
		return refused(holder, null);
	}

	static Outcome refused(@Nullable LockInfo holder, Claim.@Nullable Verdict verdict) {
		return new Outcome(null, holder, null, verdict);
	}

	static Outcome failed(DataAccessException failure) {
		return new Outcome(null, null, failure, null);
	}

	/**
	 * Return whether the request used up its time limit, so that no further pause is
	 * needed after it.
	 */
	boolean isTimedOut() {
		return this.failure instanceof QueryTimeoutException;
	}

	/**
	 * Return whether waiting cannot change the answer.
	 */
	boolean isFinal() {
		return this.verdict != null && this.verdict.isFinal();
	}

	/**
	 * Return this outcome with the verdict that concerns only the requesting thread.
	 */
	Outcome withVerdict(Claim.@Nullable Verdict verdict) {
		return (this.failure == null) ? refused(this.holder, verdict) : this;
	}

	/**
	 * Return this outcome for a thread that waited behind the requesting thread. A
	 * failure is wrapped, because its exception belongs to the stack of the requesting
	 * thread.
	 */
	Outcome seenByOthers(String name) {
		return (this.failure == null) ? this : failed(new StoreFailureException(
				("The lock '%s' could not be requested on behalf of all threads that wait for it, including this one."
						+ " The lock is not held; the cause says what failed and what to do")
					.formatted(name),
				this.failure));
	}

	/**
	 * Return the refusal at the end of the wait. A failure is thrown, and never reported
	 * as a refusal.
	 */
	LockRefusal refusal(String name, Duration waited) {
		if (this.failure != null) {
			throw this.failure;
		}
		return new LockRefusal(name, this.holder, waited, equals(OTHERS_FIRST) ? OTHERS_FIRST_REMARK : null,
				this.verdict);
	}

	/**
	 * Return how long the lock is certain to be held, unless it is released.
	 */
	long expiryNanos() {
		return (this.holder != null) ? TimeUnit.MILLISECONDS.toNanos(this.holder.remaining().toMillis())
				: Long.MAX_VALUE;
	}

}
