package dev.dblock.observation;

import org.jspecify.annotations.Nullable;

/**
 * Observes the activities of an engine, for timings and traces. The observer is called by
 * the thread that performs the activity, so it must not take long. An exception of the
 * observer is logged and has no other effect.
 */
@FunctionalInterface
public interface LockObserver {

	/**
	 * An observer that does nothing, at no cost.
	 */
	LockObserver NONE = (activity, subject) -> null;

	/**
	 * Observe the beginning of an activity.
	 * @param activity the activity
	 * @param subject its lock
	 * @return an observation to be notified of the end, or {@code null}
	 */
	@Nullable Observed begin(Activity activity, Subject subject);

	/**
	 * Return an observer that also calls another one.
	 * @param other the other observer
	 * @return the two
	 */
	default LockObserver and(LockObserver other) {
		return (activity, subject) -> {
			Observed mine = begin(activity, subject);
			Observed others;
			try {
				others = other.begin(activity, subject);
			}
			catch (RuntimeException | Error ex) {
				if (mine != null) {
					mine.end(Outcome.FAILED, subject, ex);
				}
				throw ex;
			}
			if (mine == null || others == null) {
				return (mine != null) ? mine : others;
			}
			// The last one first, since each may have opened a scope of the thread
			return (outcome, now, error) -> {
				try {
					others.end(outcome, now, error);
				}
				finally {
					mine.end(outcome, now, error);
				}
			};
		};
	}

	/**
	 * An activity that has begun.
	 */
	@FunctionalInterface
	interface Observed {

		/**
		 * Observe the end of the activity. Called once, by the thread in which it began;
		 * but a {@link Activity#HOLD} can end in any thread.
		 * @param outcome the outcome
		 * @param subject the lock, as it is known now
		 * @param error the exception that was thrown, or that would be thrown to a holder
		 * that checks the lock
		 */
		void end(Outcome outcome, Subject subject, @Nullable Throwable error);

	}

	/**
	 * An activity of the engine that takes time.
	 */
	enum Activity {

		/**
		 * A thread requests a lock, from its call to the answer, including the wait.
		 */
		ACQUIRE,

		/**
		 * A thread waits, from the first refusal, or from its place behind others, to the
		 * answer.
		 */
		WAIT,

		/**
		 * A lock is held, from the grant to its release or loss.
		 */
		HOLD,

		/**
		 * The leases of several locks are renewed by one request.
		 */
		RENEW,

		/**
		 * A lock is released by one request.
		 */
		RELEASE

	}

	/**
	 * The outcome of an {@link Activity}.
	 */
	enum Outcome {

		/**
		 * The lock was granted.
		 */
		ACQUIRED,

		/**
		 * The lock has another holder.
		 */
		UNAVAILABLE,

		/**
		 * The lock was released.
		 */
		RELEASED,

		/**
		 * The lock was handed over to another thread of this process.
		 */
		HANDED_OVER,

		/**
		 * The lock, or one of those to be renewed, was no longer held.
		 */
		LOST,

		/**
		 * The lease of an unreachable handle, which was never closed, ended.
		 */
		ABANDONED,

		/**
		 * All leases were renewed.
		 */
		RENEWED,

		/**
		 * There was no answer, the thread was interrupted, or the application is shutting
		 * down.
		 */
		FAILED

	}

	/**
	 * The subject of an {@link Activity}.
	 *
	 * @param name the full name of the lock; {@code null} for an activity on several
	 * locks
	 * @param label the name of the lock in metrics, if set
	 * @param token the fencing token; zero while there is none
	 * @param locks the number of locks
	 * @param permits how many permits were requested as the largest number of the lock;
	 * zero for a plain lock
	 */
	record Subject(@Nullable String name, @Nullable String label, long token, int locks, int permits) {

		public Subject(@Nullable String name, @Nullable String label, long token, int locks) {
			this(name, label, token, locks, 0);
		}

		public static Subject lock(String name, @Nullable String label, long token) {
			return new Subject(name, label, token, 1);
		}

		public static Subject locks(int locks) {
			return new Subject(null, null, 0, locks);
		}

	}

}
