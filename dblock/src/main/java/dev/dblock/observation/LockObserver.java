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
	@Nullable Observed begin(LockActivity activity, LockSubject subject);

	/**
	 * An activity that has begun.
	 */
	@FunctionalInterface
	interface Observed {

		/**
		 * Observe the end of the activity. Called once, by the thread in which it began;
		 * but a {@link LockActivity#HOLD} can end in any thread.
		 * @param outcome the outcome
		 * @param subject the lock, as it is known now
		 * @param error the exception that was thrown, or that would be thrown to a holder
		 * that checks the lock
		 */
		void end(LockOutcome outcome, LockSubject subject, @Nullable Throwable error);

	}

}
