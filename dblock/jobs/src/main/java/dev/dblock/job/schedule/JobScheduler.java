package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ScheduledFuture;

import dev.dblock.job.JobFiring.Schedule;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.support.CronExpression;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.PeriodicTrigger;

/**
 * Captures the planned times of jobs on their way to the scheduler. Other tasks of the
 * application are observed, since they can call the methods of jobs.
 */
final class JobScheduler implements TaskScheduler {

	/**
	 * The number of planned times that determines the shortest period of a cron
	 * expression.
	 */
	private static final int SAMPLE = 64;

	private final TaskScheduler scheduler;

	private final ScheduledJobs jobs;

	private final JobChecks checks;

	JobScheduler(TaskScheduler scheduler, ScheduledJobs jobs, JobChecks checks) {
		this.scheduler = scheduler;
		this.jobs = jobs;
		this.checks = checks;
	}

	@Override
	public Clock getClock() {
		return this.scheduler.getClock();
	}

	@Override
	public @Nullable ScheduledFuture<?> schedule(Runnable task, Trigger trigger) {
		if (trigger instanceof PeriodicTrigger periodic) {
			Duration period = periodic.getPeriodDuration();
			JobTask job = job(task, periodic.isFixedRate() ? period : null);
			Duration delay = Objects.requireNonNullElse(periodic.getInitialDelayDuration(), Duration.ZERO);
			return (job != null) ? job.periodic(periodic.isFixedRate() ? fixedRate(period) : fixedDelay(period),
					getClock().instant().plus(delay)) : this.scheduler.schedule(other(task), trigger);
		}
		JobTask job = job(task, (trigger instanceof CronTrigger cron) ? shortestPeriod(cron) : null);
		return (job != null) ? byTrigger(job, ClockChanges.adapt(trigger, this.jobs.of(task), getClock()))
				: this.scheduler.schedule(other(task), trigger);
	}

	private ScheduledFuture<?> byTrigger(JobTask job, Trigger trigger) {
		ScheduledFuture<?> future = job.byTrigger(trigger);
		if (this.jobs.isChecked()) {
			this.jobs.addedLate(job);
		}
		return future;
	}

	@Override
	public ScheduledFuture<?> schedule(Runnable task, Instant startTime) {
		JobTask job = job(task, null);
		return (job != null) ? job.once(startTime) : this.scheduler.schedule(task, startTime);
	}

	@Override
	public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Instant startTime, Duration period) {
		JobTask job = job(task, period);
		return (job != null) ? job.periodic(fixedRate(period), startTime)
				: this.scheduler.scheduleAtFixedRate(other(task), startTime, period);
	}

	@Override
	public ScheduledFuture<?> scheduleAtFixedRate(Runnable task, Duration period) {
		JobTask job = job(task, period);
		return (job != null) ? job.periodic(fixedRate(period), getClock().instant())
				: this.scheduler.scheduleAtFixedRate(other(task), period);
	}

	@Override
	public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Instant startTime, Duration delay) {
		JobTask job = job(task, null);
		return (job != null) ? job.periodic(fixedDelay(delay), startTime)
				: this.scheduler.scheduleWithFixedDelay(other(task), startTime, delay);
	}

	@Override
	public ScheduledFuture<?> scheduleWithFixedDelay(Runnable task, Duration delay) {
		JobTask job = job(task, null);
		return (job != null) ? job.periodic(fixedDelay(delay), getClock().instant())
				: this.scheduler.scheduleWithFixedDelay(other(task), delay);
	}

	private static Schedule fixedRate(Duration period) {
		return new Schedule.FixedRate(period);
	}

	private static Schedule fixedDelay(Duration delay) {
		return new Schedule.FixedDelay(delay);
	}

	private Runnable other(Runnable task) {
		Runnable observed = this.jobs.targets().observed(task);
		return (observed != task) ? new StandInTask(task, observed) : task;
	}

	private @Nullable JobTask job(Runnable task, @Nullable Duration period) {
		Collection<JobMethod> methods = this.jobs.of(task);
		if (this.jobs.isChecked()) {
			checkLate(task, period, methods.isEmpty());
		}
		return methods.isEmpty() ? null : this.jobs.captured(task, period,
				new JobTask(task, methods, this.scheduler, this.jobs.clock(methods)));
	}

	/**
	 * Check a task of a bean that is created after the startup, whose creation fails if
	 * it is refused.
	 */
	private void checkLate(Runnable task, @Nullable Duration period, boolean uncaptured) {
		Set<String> findings = new TreeSet<>();
		if (uncaptured) {
			this.checks.checkUncaptured(task, "", findings);
			this.checks.checkUnlocked(List.of(task), findings);
		}
		else {
			this.checks.check(new ScheduledJobs.Task(task, period), findings);
		}
		if (!findings.isEmpty()) {
			throw new InvalidJobException(findings);
		}
	}

	private static @Nullable Duration shortestPeriod(CronTrigger trigger) {
		CronExpression expression = CronExpression.parse(trigger.getExpression());
		Duration shortest = null;
		ZonedDateTime planned = expression.next(ZonedDateTime.now(ZoneOffset.UTC));
		for (int count = 0; planned != null && count < SAMPLE; count++) {
			ZonedDateTime next = expression.next(planned);
			Duration period = (next != null) ? Duration.between(planned, next) : null;
			shortest = (shortest == null || period != null && period.compareTo(shortest) < 0) ? period : shortest;
			planned = next;
		}
		return shortest;
	}

}
