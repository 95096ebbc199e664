package dev.dblock.job;

/**
 * Behavior for the planned time of a run whose instance crashed, or lost the lock before
 * the run ended.
 */
public enum WhenCrashed {

	/**
	 * It is not run again; the job continues with its next planned time.
	 */
	SKIP,

	/**
	 * It is run again as soon as its lease has ended and an instance requests it, in at
	 * most three attempts. The work has to be repeatable.
	 */
	RERUN

}
