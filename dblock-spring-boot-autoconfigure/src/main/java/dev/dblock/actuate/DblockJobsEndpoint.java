package dev.dblock.actuate;

import java.security.Principal;
import java.util.Arrays;
import java.util.List;

import dev.dblock.job.JobInfo;
import dev.dblock.job.JobOperations;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.Selector.Match;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.util.StringUtils;

/**
 * Shows the jobs of the application with their runs, pauses and resumes them on all
 * instances, and runs them on this one. An id in the path may contain slashes.
 */
// Spring Boot 3 does not support JSpecify, and rejects a request without a parameter
// unless Spring's own annotation marks the parameter as nullable
@SuppressWarnings("deprecation")
@Endpoint(id = "dblockjobs", defaultAccess = Access.READ_ONLY)
final class DblockJobsEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(DblockJobsEndpoint.class);

	private static final int LONGEST_NAME = 100;

	private final JobOperations jobs;

	DblockJobsEndpoint(JobOperations jobs) {
		this.jobs = jobs;
	}

	/**
	 * Return all jobs, each with its last run.
	 * @return the jobs, by id
	 */
	@ReadOperation
	Jobs jobs() {
		return new Jobs(this.jobs.list().stream().map((job) -> job.withRuns(1)).toList());
	}

	/**
	 * Return one job with its last twenty runs.
	 * @param path the id of the job
	 * @return the job; {@code null} if there is no such job
	 */
	@ReadOperation
	@Nullable JobInfo job(@Selector(match = Match.ALL_REMAINING) String[] path) {
		return this.jobs.find(id(path)).orElse(null);
	}

	/**
	 * Pause, resume or run a job.
	 * @param path the id of the job
	 * @param action the name of a {@link JobAction}, in any case
	 * @param by the operator's name, used unless the caller is authenticated
	 * @param security the caller
	 * @return the result
	 */
	@WriteOperation
	JobChange change(@Selector(match = Match.ALL_REMAINING) String[] path,
			@org.springframework.lang.Nullable @Nullable String action,
			@org.springframework.lang.Nullable @Nullable String by, SecurityContext security) {
		String id = id(path);
		JobAction known = JobAction.of(action);
		if (known == null) {
			return JobChange.ofUnknownAction(action);
		}
		if (this.jobs.find(id).isEmpty()) {
			return JobChange.ofUnknown(id);
		}
		String operator = nameOf(security.getPrincipal(), by);
		JobChange change = change(id, known, operator);
		logger.info("{} of the job '{}' was requested by {}. {}", known, id, operator, change.meaning());
		return change;
	}

	private JobChange change(String id, JobAction action, String by) {
		try {
			switch (action) {
				case PAUSE -> {
					this.jobs.pause(id, by);
					return JobChange.done("Its planned times are skipped on all instances until it is resumed. A run"
							+ " that has already started continues", this.jobs.find(id));
				}
				case RESUME -> {
					boolean paused = this.jobs.resume(id);
					return JobChange.done(paused ? "It runs from its next planned time" : "It was not paused",
							this.jobs.find(id));
				}
				case RUN -> {
					return JobChange.of(this.jobs.runNow(id), this.jobs.find(id));
				}
				default -> throw new IllegalArgumentException("Unknown action " + action);
			}
		}
		catch (IllegalArgumentException | IllegalStateException ex) {
			return JobChange.refused(String.valueOf(ex.getMessage()), this.jobs.find(id));
		}
	}

	private static String nameOf(@Nullable Principal principal, @Nullable String by) {
		String name = (principal != null) ? principal.getName() : by;
		return StringUtils.hasText(name) ? FailureLog.onOneLine(name, LONGEST_NAME) : "an operator";
	}

	private static String id(String[] path) {
		return String.join("/", path);
	}

	/**
	 * Several jobs.
	 *
	 * @param jobs the jobs, by id
	 */
	record Jobs(List<JobInfo> jobs) implements OperationResponseBody {
	}

	/**
	 * Action on a job.
	 */
	enum JobAction {

		/**
		 * Skip its planned times on all instances.
		 */
		PAUSE,

		/**
		 * Run its planned times again.
		 */
		RESUME,

		/**
		 * Run it now, on this instance.
		 */
		RUN;

		// A text, since Actuator answers an unknown constant without a body
		static @Nullable JobAction of(@Nullable String name) {
			return Arrays.stream(values())
				.filter((action) -> action.name().equalsIgnoreCase(name))
				.findFirst()
				.orElse(null);
		}

	}

}
