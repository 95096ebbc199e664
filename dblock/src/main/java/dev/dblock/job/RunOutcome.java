package dev.dblock.job;

/**
 * The outcome of a run of a job.
 */
public enum RunOutcome {

	/**
	 * The work returned normally.
	 */
	SUCCEEDED,

	/**
	 * The work threw an exception, or completed with one, or an operator released the
	 * lock by force.
	 */
	FAILED,

	/**
	 * The lease was lost before the work ended.
	 */
	LOST,

	/**
	 * The lease expired and the instance that ran the job did not report an end.
	 */
	CRASHED,

	/**
	 * The lock was granted, but the work never began. The planned time is available
	 * again, unless an earlier call of the same firing ran it: then that run decides
	 * whether it is repeated.
	 */
	ABANDONED

}
