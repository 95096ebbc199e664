package dev.dblock.job;

/**
 * Behavior for planned times at which no instance was available to run the job.
 */
public enum WhenMissed {

	/**
	 * They are not run; the job continues with its next planned time.
	 */
	SKIP,

	/**
	 * The first instance that starts runs the latest of them, once, within
	 * {@link JobPolicy#startWithinSeconds() startWithin}. Missed times are counted from
	 * the last recorded run: only planned times after that one are missed. None is missed
	 * if no run was ever recorded, or if no schedule of the job plans the time of that
	 * run, because the schedule was changed. Times that were planned while the job was
	 * paused are not missed. A fixed rate or a fixed delay needs no such rule: it is due
	 * after its last run, regardless of the instance that starts.
	 */
	RUN

}
