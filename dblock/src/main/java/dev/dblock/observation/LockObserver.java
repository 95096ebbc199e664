package dev.dblock.observation;

import org.jspecify.annotations.Nullable;

/**
 * Follows what an engine does, for timings and traces. It is called by the thread that
 * does it, so it must not take long. What it throws is logged and changes nothing.
 */
@FunctionalInterface
public interface LockObserver {

	/**
	 * Follows nothing, and costs nothing.
	 */
	LockObserver NONE = (activity, subject) -> null;

	/**
	 * Something begins.
	 * @param activity what
	 * @param subject with which lock
	 * @return what is to be told of the end, if anything
	 */
	@Nullable Observed begin(LockActivity activity, LockSubject subject);

	/**
	 * Something that has begun.
	 */
	@FunctionalInterface
	interface Observed {

		/**
		 * It has ended. Called once, by the thread in which it began; but a
		 * {@link LockActivity#HOLD} may end in any thread.
		 * @param outcome how
		 * @param subject the lock, as it is known now
		 * @param error what was thrown, or would be thrown to an owner who asks
		 */
		void end(LockOutcome outcome, LockSubject subject, @Nullable Throwable error);

	}

}
