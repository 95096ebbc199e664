package dev.dblock.job.schedule;

import java.util.List;

import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.JobMethod.Declaration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the outages of the server, and runs that one schedule of a job does not plan.
 */
final class JobReports {

	private static final Logger logger = LoggerFactory.getLogger(JobTask.class);

	private final Runnable task;

	/** Why the last request failed; {@code null} if it did not. */
	private volatile @Nullable String outage;

	JobReports(Runnable task) {
		this.task = task;
	}

	/**
	 * Log an outage, and a run by another schedule.
	 * @param plans all schedules of the job
	 */
	void answered(Answer answer, JobPlan plan, JobPlans plans) {
		Declaration declaration = answer.declaration();
		answered(answer.failure(), declaration);
		JobRun last = answer.lastRun();
		if (last != null && declaration != null) {
			plan.compare(List.of(last), plans.knownText());
		}
		JobRefusal verdict = answer.verdict();
		if (verdict != null && verdict.reason() == Reason.OTHER_ID) {
			plan.reportOtherId(name(declaration));
		}
	}

	/**
	 * Log an outage once, and each failed request at DEBUG level.
	 * @param failure why the server did not answer; {@code null} if it did
	 */
	synchronized void answered(@Nullable RuntimeException failure, @Nullable Declaration declaration) {
		if (failure != null && this.outage == null) {
			logger.warn("The request to the MongoDB server for the lock of the job '{}' failed. This instance retries"
					+ " until there is an answer. {}", name(declaration), failure.getMessage());
		}
		if (failure != null) {
			logger.debug("The request to the MongoDB server for the lock of the job '{}' failed", name(declaration),
					failure);
		}
		this.outage = (failure != null) ? String.valueOf(failure.getMessage()) : null;
	}

	@Nullable String outage() {
		return this.outage;
	}

	private String name(@Nullable Declaration declaration) {
		String id = (declaration != null) ? declaration.storedId() : null;
		return (id != null) ? id : this.task.toString();
	}

}
