package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.job.JobInfo;
import dev.dblock.job.JobRun;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.support.CronTrigger;

/**
 * One schedule of a job for operators: its description, its next planned time, the
 * earliest one without an answer, and whether other instances have the same schedule.
 */
final class JobPlan {

	private static final Logger logger = LoggerFactory.getLogger(JobTask.class);

	private static final String CRON = "cron ";

	private final String description;

	private final @Nullable PlannedTrigger trigger;

	private final Clock own;

	private @Nullable Instant open;

	private @Nullable Instant last;

	private final AtomicBoolean disagreed = new AtomicBoolean();

	private volatile @Nullable Instant first;

	/**
	 * Create the plan.
	 * @param trigger plans the firings; {@code null} for a single one
	 * @param own the scheduler's clock
	 */
	JobPlan(String description, @Nullable PlannedTrigger trigger, Clock own) {
		this.description = description;
		this.trigger = trigger;
		this.own = own;
	}

	static String describe(Trigger trigger) {
		return (trigger instanceof CronTrigger cron) ? CRON + cron.getExpression() : "trigger " + trigger;
	}

	/**
	 * Return a trigger that records each planned time.
	 */
	Trigger watched(PlannedTrigger planning) {
		return (context) -> {
			Instant next = planning.nextExecution(context);
			Instant planned = planning.planned();
			if (next != null && planned != null) {
				planned(planned);
				if (this.first == null) {
					this.first = planned;
				}
			}
			return next;
		};
	}

	private synchronized void planned(Instant at) {
		this.last = at;
		plannedAgain(at);
	}

	/**
	 * Record a planned time that was refused as not due and will be fired again, after
	 * the next one was planned.
	 */
	synchronized void plannedAgain(Instant at) {
		if (this.open == null || at.isBefore(this.open)) {
			this.open = at;
		}
	}

	/**
	 * Record that all planned times up to this one were run, or are skipped.
	 */
	synchronized void answered(Instant at) {
		if (this.open != null && !this.open.isAfter(at)) {
			this.open = (this.last != null && this.last.isAfter(at)) ? this.last : null;
		}
	}

	/**
	 * Return the earliest planned time for which there is no answer yet.
	 */
	synchronized @Nullable Instant openSince() {
		return this.open;
	}

	/**
	 * Return the schedule and its next firing.
	 * @param zones the time zone of each cron expression that is declared with one
	 */
	JobInfo.Schedule schedule(Map<String, String> zones) {
		String description = this.description;
		if (description.startsWith(CRON)) {
			String zone = zones.get(description.substring(CRON.length()));
			description += " in " + ((zone != null) ? zone : this.own.getZone());
		}
		return new JobInfo.Schedule(description, (this.trigger != null) ? this.trigger.next(this.own) : null);
	}

	boolean hasDisagreed() {
		return this.disagreed.get();
	}

	/**
	 * Log once if there were runs that this schedule does not plan, since this instance
	 * started with the job: instances have different schedules or time zones.
	 * @param runs all runs of the job, of which this is the only schedule
	 */
	void compare(List<JobRun> runs, Map<String, String> zones) {
		Instant first = this.first;
		if (first == null || !(this.trigger instanceof JobTrigger planning)) {
			return;
		}
		for (JobRun run : runs) {
			if (!run.plannedAt().isBefore(first) && !planning.isPlanned(run.plannedAt(), this.own)
					&& this.disagreed.compareAndSet(false, true)) {
				logger.warn("The job '{}' was run by {} for the planned time {}, which is not in its schedule on this"
						+ " instance ({}). Instances with different schedules or time zones all run the job; give all"
						+ " of them the same schedule and time zone", run.jobId(), run.instance(), run.plannedAt(),
						schedule(zones).description());
			}
		}
	}

}
