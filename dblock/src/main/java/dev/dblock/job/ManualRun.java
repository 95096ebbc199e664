package dev.dblock.job;

/**
 * What became of an attempt to run a job now.
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
		 * It has its lock and runs, or has ended.
		 */
		STARTED,

		/**
		 * It does not run, since its lock is held or no thread is free.
		 */
		REFUSED,

		/**
		 * It waits for its lock or its work has not asked for it yet, and starts if it
		 * gets it.
		 */
		WAITING,

		/**
		 * It could not ask for its lock; the log has the reason.
		 */
		FAILED

	}

}
