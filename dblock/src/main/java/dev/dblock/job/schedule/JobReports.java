package dev.dblock.job.schedule;

import java.time.Instant;
import java.util.Objects;

import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.schedule.JobMethod.Declaration;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports the outages and the missed planned times of one schedule of a job.
 */
final class JobReports {

	private static final Logger logger = LoggerFactory.getLogger(JobTask.class);

	private final Runnable task;

	private boolean unreachable;

	JobReports(Runnable task) {
		this.task = task;
	}

	/**
	 * Log an outage once, and each attempt at DEBUG level.
	 * @param failure why the server did not answer; {@code null} if it did
	 */
	synchronized void answered(@Nullable RuntimeException failure, @Nullable Schedule schedule,
			@Nullable Declaration declaration) {
		if (failure != null && !this.unreachable) {
			logger.warn(
					"The request to the MongoDB server for the lock of the job '{}' failed. This instance retries until"
							+ " there is an answer{}. {}",
					name(declaration),
					(schedule instanceof Schedule.Planned && declaration != null)
							? ", for up to " + Durations.readable(declaration.startWithin()) : "",
					failure.getMessage());
		}
		if (failure != null) {
			logger.debug("The request to the MongoDB server for the lock of the job '{}' failed", name(declaration),
					failure);
		}
		this.unreachable = failure != null;
	}

	/**
	 * Report a planned time that this instance abandons, and that no instance has run as
	 * far as this one knows.
	 */
	void missed(ScheduledCall call, String end) {
		Instant planned = ((Schedule.Planned) Objects.requireNonNull(call.schedule())).at();
		RuntimeException failure = call.failure();
		LockRefusal refusal = call.refusal();
		String why = (failure != null) ? "The request to the MongoDB server failed: " + failure.getMessage()
				: (refusal != null) ? refusal.describe() : "";
		logger.error("The job '{}' missed its planned time {}: it could not start {}. {}. {}", name(call.declaration()),
				planned, end, why, (failure != null) ? "Check the server, and whether another instance ran the job"
						: "Check the holder of the lock, or set a longer startWithin");
		JobMethod method = call.method();
		if (method != null) {
			method.missed(planned);
		}
	}

	private String name(@Nullable Declaration declaration) {
		String id = (declaration != null) ? declaration.storedId() : null;
		return (id != null) ? id : this.task.toString();
	}

}
