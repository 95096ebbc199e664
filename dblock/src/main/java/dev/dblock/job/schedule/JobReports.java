package dev.dblock.job.schedule;

import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;

import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.Answer.Asked;
import dev.dblock.job.schedule.JobMethod.Declaration;
import dev.dblock.job.schedule.NextFiring.Missed;
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

	private volatile BooleanSupplier alone = () -> false;

	private boolean unreachable;

	JobReports(Runnable task) {
		this.task = task;
	}

	/**
	 * Set whether this is the only schedule of its job. If it is not, another schedule
	 * may have planned the times that this one does not plan.
	 */
	void alone(BooleanSupplier alone) {
		this.alone = alone;
	}

	/**
	 * Log an outage, and a run that the schedule does not plan.
	 */
	void answered(Answer answer, JobPlan plan) {
		Declaration declaration = answer.declaration();
		answered(answer.failure(), answer.request().schedule(), declaration);
		JobRun last = answer.lastRun();
		if (last != null && declaration != null && !plan.hasDisagreed() && this.alone.getAsBoolean()) {
			plan.compare(List.of(last));
		}
	}

	/**
	 * Log an outage once, and each failed request at DEBUG level.
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
	 * Report the planned time if it was missed.
	 */
	void decided(NextFiring next) {
		if (next instanceof Missed missed) {
			missed(missed);
		}
	}

	private void missed(Missed missed) {
		Answer answer = missed.answer();
		Asked asked = answer.asked();
		Declaration declaration = answer.declaration();
		Instant planned = ((Schedule.Planned) Objects.requireNonNull(answer.request().schedule())).at();
		String end = switch (missed.reason()) {
			case TOO_LATE -> "within " + Durations.readable(Objects.requireNonNull(declaration).startWithin());
			case OVERTAKEN -> "before its next planned time";
		};
		RuntimeException failure = answer.failure();
		LockRefusal refusal = answer.refusal();
		String why = (failure != null) ? "The request to the MongoDB server failed: " + failure.getMessage()
				: (refusal != null) ? refusal.describe() : "";
		logger.error("The job '{}' missed its planned time {}: it could not start {}. {}. {}", name(declaration),
				planned, end, why, (failure != null) ? "Check the server, and whether another instance ran the job"
						: "Check the holder of the lock, or set a longer startWithin");
		if (asked != null) {
			asked.method().missed(planned);
		}
	}

	private String name(@Nullable Declaration declaration) {
		String id = (declaration != null) ? declaration.storedId() : null;
		return (id != null) ? id : this.task.toString();
	}

}
