package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockInfo;
import dev.dblock.LockRefusal;
import dev.dblock.job.JobRefusal;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;

/**
 * What one attempt to acquire a lock came to: a handle, who else holds the lock, or a
 * failure that may pass.
 *
 * @param handle the handle of a grant
 * @param holder the state of the lock at a refusal
 * @param failure the failure
 * @param job why a firing of a job was refused, unless something else has the lock
 */
record Outcome(@Nullable LeaseHandle handle, @Nullable LockInfo holder, @Nullable DataAccessException failure,
		@Nullable JobRefusal job) {

	/**
	 * The lock may be free, but it is the turn of others, in this process or elsewhere.
	 */
	static final Outcome OTHERS_FIRST = new Outcome(null, null, null, null);

	private static final String OTHERS_FIRST_REMARK = "Threads of this application wait for it, and others are to have it "
			+ "first";

	static Outcome granted(LeaseHandle handle) {
		return new Outcome(handle, null, null, null);
	}

	static Outcome refused(LockInfo holder) {
		return refused(holder, null);
	}

	static Outcome refused(@Nullable LockInfo holder, @Nullable JobRefusal job) {
		return new Outcome(null, holder, null, job);
	}

	static Outcome failed(DataAccessException failure) {
		return new Outcome(null, null, failure, null);
	}

	/**
	 * Whether the request took as long as it might: no further pause is needed after it.
	 */
	boolean isTimedOut() {
		return this.failure instanceof QueryTimeoutException;
	}

	/**
	 * Whether a wait cannot change the answer.
	 */
	boolean isFinal() {
		return this.job != null && this.job.isFinal();
	}

	/**
	 * The same with what only the thread that asked was refused for.
	 */
	Outcome forJob(@Nullable JobRefusal job) {
		return (this.failure == null) ? refused(this.holder, job) : this;
	}

	/**
	 * The same for a thread that waited behind the one who asked: what is thrown there
	 * belongs to that one's stack.
	 */
	Outcome seenByOthers(String name) {
		return (this.failure == null) ? this : failed(new DataAccessResourceFailureException(
				("The lock '%s' could not be asked for on behalf of those who wait for it, of whom this thread is "
						+ "one. It is not held; the cause says what went wrong and what to do")
					.formatted(name),
				this.failure));
	}

	/**
	 * The end of the wait: an error is thrown as one, never told as a refusal.
	 */
	LockRefusal refusal(String name, Duration waited) {
		if (this.failure != null) {
			throw this.failure;
		}
		return new LockRefusal(name, this.holder, waited, equals(OTHERS_FIRST) ? OTHERS_FIRST_REMARK : null, this.job);
	}

	/**
	 * How long the name is taken for sure, unless it is released.
	 */
	long expiryNanos() {
		return (this.holder != null) ? TimeUnit.MILLISECONDS.toNanos(this.holder.remaining().toMillis())
				: Long.MAX_VALUE;
	}

}
