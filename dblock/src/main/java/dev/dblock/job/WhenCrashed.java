package dev.dblock.job;

/**
 * What happens to the planned time of a run whose instance crashed, or lost the lock
 * before the run ended.
 */
public enum WhenCrashed {

	/**
	 * It is not run again; the job goes on with its next planned time.
	 */
	SKIP,

	/**
	 * It is run again as soon as its lease has ended and an instance asks, in at most
	 * three attempts. The work has to be repeatable.
	 */
	RERUN

}
