package dev.dblock.job.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.ScheduledFuture;

import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRun;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.SchedulingAwareRunnable;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;

/**
 * One schedule of a job on this instance. The scheduler fires it at what its trigger
 * plans; where an answer that comes too late for the trigger says that the job is due
 * earlier, it fires once more at that time.
 */
final class JobTask {

	private static final Logger logger = LoggerFactory.getLogger(JobTask.class);

	/** When to ask again for what this clock takes for due, and the server does not. */
	private static final Duration SOON = Duration.ofMillis(100);

	private final Runnable task;

	private final Collection<JobMethod> methods;

	private final TaskScheduler scheduler;

	private final StoreClock clock;

	private @Nullable PeriodicJobTrigger periodic;

	private volatile @Nullable ScheduledFuture<?> future;

	private @Nullable ScheduledFuture<?> followUp;

	private boolean closed;

	JobTask(Runnable task, Collection<JobMethod> methods, TaskScheduler scheduler, StoreClock clock) {
		this.task = task;
		this.methods = methods;
		this.scheduler = scheduler;
		this.clock = clock;
	}

	/**
	 * Schedule a task that is called at what a trigger plans.
	 */
	@Nullable ScheduledFuture<?> byTrigger(Trigger trigger) {
		JobTrigger planning = new JobTrigger(trigger, this.clock);
		ScheduledFuture<?> future = this.scheduler.schedule(firing(() -> call(new Schedule.Planned(planning.take()))),
				planning);
		this.future = future;
		return future;
	}

	/**
	 * Schedule a task whose planned times follow from the last run.
	 * @param start when it is called first, by the scheduler's clock
	 */
	ScheduledFuture<?> periodic(Schedule schedule, Instant start) {
		PeriodicJobTrigger trigger = new PeriodicJobTrigger(schedule, start, this.clock);
		this.periodic = trigger;
		ScheduledFuture<?> future = Objects.requireNonNull(this.scheduler.schedule(firing(() -> {
			if (trigger.isDue(this.scheduler.getClock())) {
				call(schedule);
			}
		}), trigger));
		this.future = future;
		return future;
	}

	/**
	 * Schedule a task that is called once and has no planned time.
	 */
	ScheduledFuture<?> once(Instant start) {
		return this.scheduler.schedule(firing(() -> call(null)), start);
	}

	private Runnable firing(Runnable action) {
		return new Firing(this.task, action);
	}

	private void call(@Nullable Schedule schedule) {
		ScheduledCall call = new ScheduledCall(this, schedule);
		try {
			call.run(this.task);
		}
		finally {
			if (call.isAnswered()) {
				follow(call);
			}
		}
	}

	/**
	 * Act on the answer to a call whose method has returned.
	 */
	synchronized void follow(ScheduledCall call) {
		Again next = following(call);
		if (next == null) {
			return;
		}
		boolean planned = this.periodic != null && !this.periodic.isLateFor(next.at(), this.scheduler.getClock());
		cancelFollowUp();
		if (planned || this.closed) {
			return;
		}
		try {
			this.followUp = this.scheduler.schedule(firing(() -> repeat(next.schedule())),
					this.clock.toOwn(next.at(), this.scheduler.getClock()));
		}
		catch (TaskRejectedException ex) {
			logger.debug("The scheduler does not accept the firing of {} at {}", this.task, next.at(), ex);
		}
	}

	private void repeat(Schedule schedule) {
		ScheduledFuture<?> future = this.future;
		PeriodicJobTrigger periodic = this.periodic;
		if ((future == null || !future.isCancelled())
				&& (periodic == null || periodic.isDue(this.scheduler.getClock()))) {
			call(schedule);
		}
	}

	private void cancelFollowUp() {
		if (this.followUp != null) {
			this.followUp.cancel(false);
			this.followUp = null;
		}
	}

	/**
	 * Cancel what a scheduler that waits for its tasks would wait for. It drops periodic
	 * tasks itself, but knows neither follow-ups nor triggers as such.
	 */
	synchronized void close() {
		this.closed = true;
		cancelFollowUp();
		ScheduledFuture<?> future = this.future;
		if (this.periodic != null && future != null) {
			future.cancel(false);
		}
	}

	private @Nullable Again following(ScheduledCall call) {
		Schedule schedule = call.schedule();
		if (schedule == null) {
			return null;
		}
		JobRun run = call.run();
		return (run != null) ? afterRun(schedule, run) : afterRefusal(schedule, call.refusal(), call.isRerun());
	}

	private @Nullable Again afterRun(Schedule schedule, JobRun run) {
		if (schedule instanceof Schedule.FixedRate rate) {
			Instant due = run.plannedAt().plus(rate.period());
			return new Again(due.isAfter(now()) ? due : now(), rate);
		}
		if (schedule instanceof Schedule.FixedDelay delay) {
			return new Again(now().plus(delay.delay()), delay);
		}
		// After the repetition of a crashed run, this planned time is still to come
		Instant planned = ((Schedule.Planned) schedule).at();
		return run.plannedAt().isBefore(planned) ? new Again(planned, schedule) : null;
	}

	private @Nullable Again afterRefusal(Schedule schedule, @Nullable LockRefusal refusal, boolean rerun) {
		JobRefusal job = (refusal != null) ? refusal.job() : null;
		if (refusal == null || job == null) {
			return null;
		}
		Instant leaseEnd = rerun ? leaseEnd(refusal, job) : null;
		if (schedule instanceof Schedule.Planned) {
			return (leaseEnd != null && job.last() != null)
					? new Again(leaseEnd, new Schedule.Planned(job.last().plannedAt())) : null;
		}
		Instant due = job.nextDue();
		if (due != null && !due.isAfter(now())) {
			// What is due already while the job runs is left to the next period
			due = (job.reason() == JobRefusal.Reason.NOT_DUE) ? now().plus(SOON) : null;
		}
		if (leaseEnd != null && (due == null || leaseEnd.isBefore(due))) {
			due = leaseEnd;
		}
		return (due != null) ? new Again(due, schedule) : null;
	}

	/**
	 * When the lease of a run that goes on could have ended.
	 */
	private @Nullable Instant leaseEnd(LockRefusal refusal, JobRefusal job) {
		return switch (job.reason()) {
			case RUNNING, OVERLAPPED -> {
				Duration left = (refusal.holder() != null) ? refusal.holder().remaining() : Duration.ZERO;
				yield left.isZero() ? null : now().plus(left);
			}
			case DONE, NOT_DUE, PAUSED -> null;
		};
	}

	void learn(Instant serverTime, long sent) {
		this.clock.learn(serverTime, sent, this.scheduler.getClock());
	}

	long nanoTime() {
		return this.clock.nanoTime();
	}

	private Instant now() {
		return this.clock.now(this.scheduler.getClock());
	}

	boolean isOf(JobMethod method) {
		return this.methods.contains(method);
	}

	/**
	 * A further firing.
	 *
	 * @param at when, by the server's clock
	 * @param schedule what for
	 */
	private record Again(Instant at, Schedule schedule) {
	}

	/**
	 * A task that the scheduler sees as the one that it stands for.
	 *
	 * @param task the task
	 * @param action what is done for it
	 */
	private record Firing(Runnable task, Runnable action) implements SchedulingAwareRunnable {

		@Override
		public void run() {
			this.action.run();
		}

		@Override
		public boolean isLongLived() {
			return this.task instanceof SchedulingAwareRunnable aware && aware.isLongLived();
		}

		@Override
		public @Nullable String getQualifier() {
			return (this.task instanceof SchedulingAwareRunnable aware) ? aware.getQualifier() : null;
		}

		@Override
		public String toString() {
			return this.task.toString();
		}

	}

}
