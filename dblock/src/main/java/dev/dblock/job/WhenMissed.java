package dev.dblock.job;

/**
 * What happens to planned times at which no instance was there to run the job.
 */
public enum WhenMissed {

	/**
	 * They are not run; the job goes on with its next planned time.
	 */
	SKIP,

	/**
	 * The first instance that starts runs the latest of them, once, within
	 * {@link JobPolicy#startWithinSeconds() startWithin}. It counts from the last run
	 * that was recorded: only planned times after that one are missed, and none if no
	 * schedule of the job plans the time of that run, because it was changed, or if no
	 * run was ever recorded. What was planned while the job was paused is not missed. A
	 * fixed rate or a fixed delay needs no such rule: it is due after its last run,
	 * whichever instance starts.
	 */
	RUN

}
