package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;

import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobInfo;
import dev.dblock.job.JobRun;
import dev.dblock.job.trigger.JobTrigger;
import dev.dblock.job.trigger.PeriodicJobTrigger;
import dev.dblock.job.trigger.PlannedTimes;
import dev.dblock.job.trigger.PlannedTrigger;
import dev.dblock.job.trigger.StoreClock;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.support.CronTrigger;

/**
 * The planned times of one schedule: what its trigger plans, the earliest one that is
 * open, and whether other instances have the same schedule.
 */
final class JobPlan {

	private static final Logger logger = LoggerFactory.getLogger(JobTask.class);

	private static final Duration HOUR = Duration.ofHours(1);

	private final String description;

	private final @Nullable String text;

	private final @Nullable PlannedTrigger trigger;

	private final StoreClock clock;

	private final Clock own;

	private @Nullable Instant open;

	private @Nullable Instant last;

	/** When another schedule was last reported, by the scheduler's clock. */
	private final AtomicReference<@Nullable Instant> disagreed = new AtomicReference<>();

	/** When a settlement under another id was last reported, by the same clock. */
	private final AtomicReference<@Nullable Instant> renamed = new AtomicReference<>();

	/** The {@code nanoTime} at which the trigger was asked first. */
	private volatile @Nullable Long asked;

	private volatile @Nullable Instant since;

	/**
	 * Create the plan.
	 * @param trigger plans the firings; {@code null} for a single one
	 * @param clock the clock of the server
	 * @param own the scheduler's clock
	 */
	JobPlan(String description, @Nullable PlannedTrigger trigger, StoreClock clock, Clock own) {
		this.description = description;
		this.trigger = trigger;
		this.clock = clock;
		this.own = own;
		this.text = (trigger instanceof JobTrigger instants) ? text(instants.cron(), own)
				: (trigger != null) ? description : "";
	}

	private static @Nullable String text(@Nullable CronTrigger cron, Clock own) {
		if (cron == null) {
			return null;
		}
		ZoneId zone = ClockChanges.zoneOf(cron, own);
		return describe(cron, (zone != null) ? zone.normalized() : null);
	}

	static String describe(Trigger trigger, Clock own) {
		if (!(trigger instanceof CronTrigger cron)) {
			return "trigger " + trigger;
		}
		return describe(cron, ClockChanges.zoneOf(cron, own));
	}

	private static String describe(CronTrigger cron, @Nullable ZoneId zone) {
		return "cron " + cron.getExpression() + ((zone != null) ? " in " + zone : "");
	}

	static String describe(Schedule schedule) {
		return (schedule instanceof Schedule.FixedRate rate) ? "fixed rate " + Durations.written(rate.period())
				: "fixed delay " + Durations.written(((Schedule.FixedDelay) schedule).delay());
	}

	/**
	 * Whether the schedule plans instants, as a cron expression does.
	 */
	boolean plansInstants() {
		return this.trigger instanceof JobTrigger;
	}

	boolean plans(Instant instant) {
		return this.trigger instanceof JobTrigger instants && instants.plans(instant, this.own);
	}

	/**
	 * Whether the schedule plans an instant, as far as that is known.
	 */
	boolean isPlanned(Instant instant) {
		return !(this.trigger instanceof JobTrigger instants) || instants.isPlanned(instant, this.own);
	}

	/**
	 * Return the planned times between two others.
	 */
	PlannedTimes between(Instant after, Instant before) {
		return (this.trigger instanceof JobTrigger instants) ? instants.between(after, before, this.own)
				: PlannedTimes.NONE;
	}

	/**
	 * Return the latest planned time up to a moment, if it is later than another one.
	 */
	@Nullable Instant latest(Instant than, Instant until) {
		return (this.trigger instanceof JobTrigger instants) ? instants.latest(than, until, this.own) : null;
	}

	String description() {
		return this.description;
	}

	/**
	 * Return a text that is the same for the same schedule on each instance. It is empty
	 * for a task that is called once, and {@code null} for a trigger that has no such
	 * text.
	 */
	@Nullable String text() {
		return this.text;
	}

	/**
	 * Whether the trigger can be asked what it plans at any time: one of the application
	 * may count its calls.
	 */
	boolean isCron() {
		return this.trigger instanceof JobTrigger instants && instants.cron() != null;
	}

	/**
	 * Return since when this instance plans, by the server's clock; {@code null} if it
	 * does not, or as long as that clock is not known. A trigger of the application may
	 * also plan earlier times, so that its first one counts.
	 */
	@Nullable Instant since() {
		Long asked = this.asked;
		if (this.since == null && isCron() && asked != null && this.clock.isKnown()) {
			this.since = this.clock.at(asked, this.own);
		}
		return this.since;
	}

	/**
	 * Return the firing in addition to that which the trigger has planned, since it did
	 * not know the time of the server.
	 * @param now the time of the server's clock
	 */
	NextFiring planAgain(Instant now) {
		Instant planned = (this.trigger instanceof JobTrigger instants && isCron()) ? instants.unfired() : null;
		return (planned != null) ? replan(planned, 0, now) : NextFiring.NONE;
	}

	boolean isPeriodic() {
		return this.trigger instanceof PeriodicJobTrigger;
	}

	/**
	 * Whether the job is due, as far as known.
	 */
	boolean isDue() {
		return !(this.trigger instanceof PeriodicJobTrigger period) || period.isDue(this.own);
	}

	/**
	 * Have the trigger fire at an instant, by the server's clock.
	 * @return whether it does; only that of a period can, before it has planned the next
	 * firing
	 */
	boolean firesAt(Instant at) {
		return this.trigger instanceof PeriodicJobTrigger period && period.firesAt(at, this.own);
	}

	/**
	 * Return a trigger that records each planned time.
	 */
	Trigger watched() {
		PlannedTrigger trigger = Objects.requireNonNull(this.trigger);
		return (context) -> {
			if (this.asked == null) {
				this.asked = this.clock.nanoTime();
			}
			Instant next = trigger.nextExecution(context);
			Instant planned = trigger.planned();
			if (next != null && planned != null) {
				planned(planned);
				if (this.since == null && !isCron()) {
					this.since = planned;
				}
			}
			return next;
		};
	}

	private synchronized void planned(Instant at) {
		this.last = at;
		opened(at);
	}

	private synchronized void opened(Instant at) {
		if (this.open == null || at.isBefore(this.open)) {
			this.open = at;
		}
	}

	/**
	 * Have the trigger plan a time again that was refused as not due.
	 * @param shards how many shards it has; 0 if it is not for a shard
	 * @param now the time of the server's clock
	 * @return the firing in addition to those that the trigger plans
	 */
	NextFiring replan(Instant refused, int shards, Instant now) {
		Instant planned = (this.trigger instanceof JobTrigger instants) ? instants.replan(refused, this.own) : null;
		if (planned == null) {
			return NextFiring.NONE;
		}
		opened(planned);
		return NextFiring.notDue(planned, JobRequest.first(new Schedule.Planned(planned)).shards(shards), now);
	}

	/**
	 * Record an answer.
	 * @param now the time of the server's clock
	 */
	void answered(Answer answer, Instant now) {
		if (!answer.isOpen() && !answer.isPlannedAgain()) {
			closed(answer.request().schedule(), now);
		}
	}

	/**
	 * Record that all planned times up to this one were run, are being run, or are
	 * skipped.
	 * @param schedule determines the planned time; {@code null} for a call without one
	 * @param now the time of the server's clock
	 */
	synchronized void closed(@Nullable Schedule schedule, Instant now) {
		Instant at = (schedule instanceof Schedule.Planned planned) ? planned.at() : now;
		if (schedule != null && this.open != null && !this.open.isAfter(at)) {
			this.open = (this.last != null && this.last.isAfter(at)) ? this.last : null;
		}
	}

	/**
	 * Return the earliest planned time that no answer has closed yet.
	 */
	synchronized @Nullable Instant openSince() {
		return this.open;
	}

	/**
	 * Return the schedule and its next firing.
	 */
	JobInfo.Schedule schedule() {
		return new JobInfo.Schedule(this.description, (this.trigger != null) ? this.trigger.next(this.own) : null);
	}

	private boolean mayReport(AtomicReference<@Nullable Instant> last) {
		Instant now = this.own.instant();
		Instant before = last.get();
		return (before == null || Duration.between(before, now).abs().compareTo(HOUR) >= 0)
				&& last.compareAndSet(before, now);
	}

	/**
	 * Log once per hour if there were runs by another schedule since this instance
	 * started with the job: instances have different schedules or time zones.
	 * @param runs all runs of the job
	 * @param schedules all schedules of the job on this instance, as text; {@code null}
	 * if they cannot be compared
	 */
	void compare(List<JobRun> runs, @Nullable String schedules) {
		Instant since = since();
		if (schedules == null || since == null || !(this.trigger instanceof JobTrigger planning)) {
			return;
		}
		for (JobRun run : runs) {
			boolean differs = (run.plan() != null) ? !run.plan().equals(schedules) : schedules.equals(text());
			if (differs && !planning.isPlanned(run.plannedAt(), this.own) && !run.plannedAt().isBefore(since)
					&& mayReport(this.disagreed)) {
				logger.warn("The job '{}' was run by {} for the planned time {} by {}, but this instance has '{}'."
						+ " Instances with different schedules or time zones all run the job; give all of them the"
						+ " same schedule and time zone", run.jobId(), run.instance(), run.plannedAt(),
						(run.plan() != null) ? "the schedule '" + run.plan() + "'" : "another schedule", schedules);
			}
		}
	}

	/**
	 * Log once per hour that planned times are settled under another id.
	 * @param jobId the id of the job
	 */
	void reportOtherId(String jobId) {
		if (mayReport(this.renamed)) {
			logger.warn("Planned times of the job '{}' are run, or recorded as missed, under another id of its method,"
					+ " and not under this one as well. This is as it should be while instances of another version, with"
					+ " that id, are replaced. If two applications mean different jobs, give their locks different"
					+ " names", jobId);
		}
	}

}
