package dev.dblock.job;

/**
 * The result of an attempt to run a job now.
 *
 * @param outcome whether it has started
 * @param description the reason, or what happens next, as a sentence without its full
 * stop
 */
public record ManualRun(Outcome outcome, String description) {

	/**
	 * Whether a job has started.
	 */
	public enum Outcome {

		/**
		 * It has acquired its lock and is running, or has ended.
		 */
		STARTED,

		/**
		 * It does not run, since its lock is held or no thread is free.
		 */
		REFUSED,

		/**
		 * It waits for its lock, or its work has not requested the lock yet. It starts if
		 * it acquires the lock.
		 */
		WAITING,

		/**
		 * It could not request its lock; the log has the reason.
		 */
		FAILED

	}

}
