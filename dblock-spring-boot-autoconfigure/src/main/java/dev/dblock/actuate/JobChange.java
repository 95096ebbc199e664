package dev.dblock.actuate;

import java.util.Optional;

import dev.dblock.job.JobInfo;
import dev.dblock.job.ManualRun;
import org.jspecify.annotations.Nullable;

/**
 * What became of a request to change a job.
 *
 * @param result whether it was done
 * @param meaning what that means for the job
 * @param job the job after it; {@code null} if there is no such job
 */
public record JobChange(Result result, String meaning, @Nullable JobInfo job) {

	static JobChange ofUnknown(String id) {
		return new JobChange(Result.UNKNOWN, "This application has no job with the id '" + id + "'", null);
	}

	static JobChange of(ManualRun run, Optional<JobInfo> job) {
		Result result = switch (run.outcome()) {
			case STARTED -> Result.DONE;
			case WAITING -> Result.ACCEPTED;
			case REFUSED -> Result.REFUSED;
			case FAILED -> Result.FAILED;
		};
		return new JobChange(result, run.description(), job.orElse(null));
	}

	static JobChange done(String meaning, Optional<JobInfo> job) {
		return new JobChange(Result.DONE, meaning, job.orElse(null));
	}

	static JobChange refused(String meaning, Optional<JobInfo> job) {
		return new JobChange(Result.REFUSED, meaning, job.orElse(null));
	}

	/**
	 * Whether a request was done.
	 */
	public enum Result {

		/**
		 * It was done.
		 */
		DONE,

		/**
		 * It will be done once the lock is granted.
		 */
		ACCEPTED,

		/**
		 * The state of the job did not allow it.
		 */
		REFUSED,

		/**
		 * It failed; the log has the reason.
		 */
		FAILED,

		/**
		 * There is no such job.
		 */
		UNKNOWN

	}

}
