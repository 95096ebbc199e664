package dev.dblock.store;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import dev.dblock.job.JobRun;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;

/**
 * The end of a run of a job, as a release records it.
 *
 * @param jobId the id of the job
 * @param outcome how the run ended
 * @param error the failure of the run
 */
public record RunEnd(String jobId, JobRun.Outcome outcome, @Nullable String error) {

	private static final int LONGEST_ERROR = 300;

	/**
	 * Return the end of a run whose lock an operator released. It counts as failed, since
	 * the operator did not want it to be repeated.
	 * @param jobId the id of the job
	 * @return the end
	 */
	public static RunEnd forced(String jobId) {
		return new RunEnd(jobId, JobRun.Outcome.FAILED, "The lock was released by force");
	}

	/**
	 * Return the text that is recorded for an error: its first 300 characters, with each
	 * control character replaced by a space.
	 * @param cause the error
	 * @return the text
	 */
	public static String textOf(Throwable cause) {
		Throwable inner = cause.getCause();
		boolean wrapped = cause instanceof CompletionException || cause instanceof ExecutionException;
		return FailureLog.textOf((wrapped && inner != null) ? inner : cause, LONGEST_ERROR);
	}

}
