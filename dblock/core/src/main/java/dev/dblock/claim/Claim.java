package dev.dblock.claim;

import java.time.Duration;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;

/**
 * What a request asks the store to decide and to record together with the grant of a
 * lock, such as a planned time of a job. The engine does not know what that is, and has
 * six rules for it:
 * <ol>
 * <li>The store is asked once even if this process has the lock, since only the store can
 * decide.</li>
 * <li>A lock that was granted for a claim is never handed over, nor is another one handed
 * over to a claim.</li>
 * <li>A refusal can be {@linkplain Verdict#isFinal() final}: the caller then does not
 * wait.</li>
 * <li>The release is repeated until it is answered, since it records the end.</li>
 * <li>A request can have {@linkplain #answerWithin() a shorter time limit}.</li>
 * <li>The claim is notified of each request that {@linkplain #inDoubt may have been
 * granted} although it failed, even if another one is answered after it.</li>
 * </ol>
 */
public interface Claim {

	/**
	 * Return the record that decides about the claim.
	 * @param lock the full name of the lock
	 * @return the record in the document of that lock
	 */
	Key key(String lock);

	/**
	 * Return how long the server may take to answer, if that is shorter than usual. Such
	 * a claim does not wait for the lock.
	 * @return the time limit; {@code null} for the usual one
	 */
	@Nullable Duration answerWithin();

	/**
	 * Called when a request has failed that may have been granted nevertheless. The
	 * engine abandons such a grant, which has no effect once its lease has ended.
	 * @param failure why there is no answer, or why the answer was not used
	 */
	default void inDoubt(Throwable failure) {
	}

	/**
	 * Describe the end of a grant, as its release records it.
	 * @param lock the full name of the lock
	 * @param how how it ended
	 * @param failure the text of the first failure of the work, if there was one
	 * @return the end
	 */
	End end(String lock, How how, @Nullable String failure);

	/**
	 * Return the text of a failure, as the end records it. The failure itself is not
	 * kept, since it can refer to anything, and the end can be asked for long after it.
	 * @param failure the failure
	 * @return the text
	 */
	String textOf(Throwable failure);

	/**
	 * How a grant ended.
	 */
	enum How {

		/**
		 * The work ended, whether or not it failed.
		 */
		COMPLETED,

		/**
		 * The work was interrupted before it ended, as by a scheduler that shuts down.
		 */
		INTERRUPTED,

		/**
		 * The lease was lost before the work ended.
		 */
		LOST,

		/**
		 * The work never began.
		 */
		ABANDONED,

		/**
		 * The work never began, but {@link Claimed#earlier()} was reported.
		 */
		ABANDONED_AFTER_NEWS

	}

	/**
	 * A record in the document of a lock.
	 *
	 * @param id its id
	 * @param empty the record as it is before the first grant
	 * @param origin what makes the claims, which stays the same if the id of their record
	 * changes; {@code null} if records with other ids do not matter
	 */
	record Key(String id, ClaimRecord empty, @Nullable String origin) {
	}

	/**
	 * The reason why a claim was refused, unless the lock is held for another purpose.
	 */
	interface Verdict {

		/**
		 * Whether a wait for the lock cannot change the answer.
		 * @return whether the answer is final
		 */
		boolean isFinal();

		/**
		 * Whether there is nothing left to do for the claim, which is the normal case on
		 * all instances but one.
		 * @return whether the claim is settled
		 */
		boolean isSettled();

		/**
		 * Return the refusal as a text that follows a colon.
		 * @return the text
		 */
		String describe();

	}

	/**
	 * The end of a grant, as the release records it.
	 */
	interface End {

	}

	/**
	 * News about claims, which the listeners are notified of.
	 */
	interface News {

		/**
		 * Return what happened to the lock, as the end of a sentence that begins with
		 * "The lock was".
		 * @return the text
		 */
		String what();

		/**
		 * Whether each listener is notified in a thread of its own, so that none delays
		 * the thread that reports the news.
		 * @return whether it is; otherwise it is notified in the thread that reports
		 */
		boolean isInOwnThread();

		/**
		 * Log a warning, if the news are one.
		 * @param logger the logger of the caller
		 */
		default void log(Logger logger) {
		}

	}

}
