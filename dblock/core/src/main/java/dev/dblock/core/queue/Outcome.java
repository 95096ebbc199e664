package dev.dblock.core.queue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockInfo;
import dev.dblock.LockRefusal;
import dev.dblock.claim.Claim;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.store.StoreFailureException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;

/**
 * The outcome of one attempt to acquire a lock.
 */
public sealed interface Outcome {

	/**
	 * The lock was granted.
	 *
	 * @param handle the handle of the grant
	 */
	record Granted(LeasedLock handle) implements Outcome {
	}

	/**
	 * The lock was not granted, so the thread waits or gives up.
	 */
	sealed interface Unavailable extends Outcome {

		/**
		 * Return the refusal at the end of the wait. A failure is thrown, and never
		 * reported as a refusal.
		 */
		LockRefusal refusal(String name, Duration waited);

		/**
		 * Return this outcome with the verdict that concerns only the requesting thread.
		 */
		Unavailable withVerdict(Claim.@Nullable Verdict verdict);

		/**
		 * Return this outcome for a thread that waited behind the requesting thread.
		 */
		default Unavailable seenByOthers(String name) {
			return this;
		}

		/**
		 * Return why a claim was refused, unless the lock is held for another purpose.
		 */
		default Claim.@Nullable Verdict verdict() {
			return null;
		}

		/**
		 * Return the failure, if it was one.
		 */
		default @Nullable DataAccessException failure() {
			return null;
		}

		/**
		 * Return whether the request used up its time limit, so that no further pause is
		 * needed after it.
		 */
		default boolean isTimedOut() {
			return failure() instanceof QueryTimeoutException;
		}

		/**
		 * Return whether waiting cannot change the answer.
		 */
		default boolean isFinal() {
			Claim.Verdict verdict = verdict();
			return verdict != null && verdict.isFinal();
		}

		/**
		 * Return whether the lock was released between another outcome and this one.
		 */
		default boolean showsReleaseSince(Unavailable before) {
			return false;
		}

		/**
		 * Return how long the lock is certain to be held, unless it is released.
		 */
		default long expiryNanos() {
			return Long.MAX_VALUE;
		}

	}

	/**
	 * The lock is held, or a claim was refused.
	 *
	 * @param holder the state of the lock
	 * @param verdict why a claim was refused, unless the lock is held for another purpose
	 */
	record Refused(@Nullable LockInfo holder, Claim.@Nullable Verdict verdict) implements Unavailable {

		public Refused(LockInfo holder) {
			this(holder, null);
		}

		@Override
		public LockRefusal refusal(String name, Duration waited) {
			return new LockRefusal(name, this.holder, waited, null, this.verdict);
		}

		@Override
		public Unavailable withVerdict(Claim.@Nullable Verdict verdict) {
			return new Refused(this.holder, verdict);
		}

		@Override
		public boolean showsReleaseSince(Unavailable before) {
			LockInfo earlier = (before instanceof Refused refused) ? refused.holder : null;
			return earlier != null && this.holder != null && earlier.name().equals(this.holder.name())
					&& earlier.token() != this.holder.token();
		}

		@Override
		public long expiryNanos() {
			return (this.holder != null) ? TimeUnit.MILLISECONDS.toNanos(this.holder.remaining().toMillis())
					: Long.MAX_VALUE;
		}

	}

	/**
	 * The lock may be free, but it is the turn of other threads, in this process or
	 * elsewhere.
	 */
	record OthersFirst() implements Unavailable {

		private static final String REMARK = "Threads of this application are waiting for it, and others go first";

		@Override
		public LockRefusal refusal(String name, Duration waited) {
			return new LockRefusal(name, null, waited, REMARK, null);
		}

		@Override
		public Unavailable withVerdict(Claim.@Nullable Verdict verdict) {
			return (verdict != null) ? new Refused(null, verdict) : this;
		}

	}

	/**
	 * The request failed, and can be repeated.
	 *
	 * @param failure the failure
	 */
	record Failed(DataAccessException failure) implements Unavailable {

		@Override
		public LockRefusal refusal(String name, Duration waited) {
			throw this.failure;
		}

		@Override
		public Unavailable withVerdict(Claim.@Nullable Verdict verdict) {
			return this;
		}

		/**
		 * Wrap the failure, because its exception belongs to the stack of the requesting
		 * thread.
		 */
		@Override
		public Unavailable seenByOthers(String name) {
			return new Failed(new StoreFailureException(
					("The lock '%s' could not be requested on behalf of all threads that wait for it, including this"
							+ " one. The lock is not held; the cause says what failed and what to do")
						.formatted(name),
					this.failure));
		}

	}

}
