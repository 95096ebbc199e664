package dev.dblock.actuate;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

import dev.dblock.actuate.DblockJobsEndpoint.JobAction;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobOperations.ManualRun;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Result of a request to change a job.
 *
 * @param result whether the request was carried out
 * @param meaning the consequences for the job
 * @param job the job after the request; {@code null} if there is no such job
 */
record JobChange(Result result, String meaning, @Nullable JobInfo job) implements OperationResponseBody {

	static JobChange ofUnknown(String id) {
		return new JobChange(Result.UNKNOWN, "This application has no job with the id '" + id + "'", null);
	}

	static JobChange ofUnknownAction(@Nullable String action) {
		String known = Arrays.stream(JobAction.values())
			.map((each) -> each.name().toLowerCase(Locale.ROOT))
			.collect(Collectors.joining(", "));
		return new JobChange(Result.INVALID,
				(action != null) ? "There is no action '%s'. Possible actions: %s"
					.formatted(FailureLog.onOneLine(action, 100), known)
						: "Nothing was requested. Set 'action' to one of: " + known,
				null);
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
	 * Outcome of a request.
	 */
	enum Result {

		/**
		 * The request was carried out.
		 */
		DONE,

		/**
		 * The request will be carried out once the lock is granted.
		 */
		ACCEPTED,

		/**
		 * The job or its state did not allow the request.
		 */
		REFUSED,

		/**
		 * The request failed. The reason is logged.
		 */
		FAILED,

		/**
		 * There is no such action.
		 */
		INVALID,

		/**
		 * There is no such job.
		 */
		UNKNOWN

	}

}
