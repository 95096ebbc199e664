package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;

import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.schedule.NextFiring.Missed;
import dev.dblock.job.schedule.NextFiring.NotDue;
import dev.dblock.job.schedule.NextFiring.Retry;
import dev.dblock.job.schedule.NextFiring.Timed;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;

/**
 * One schedule of a job on this instance. The scheduler fires it at the times that its
 * trigger plans. After each answer, {@link NextFiring} decides whether it fires once
 * more, which needs a timer unless the trigger plans that.
 */
final class JobTask {

	private final Runnable task;

	private final Collection<JobMethod> methods;

	private final TaskScheduler scheduler;

	private final StoreClock clock;

	private final JobReports reports;

	private final LatestPlanned latest;

	private final JobTimer timer;

	private volatile JobPlan plan;

	private volatile @Nullable ScheduledFuture<?> future;

	private boolean onlyOnRequest;

	JobTask(Runnable task, Collection<JobMethod> methods, TaskScheduler scheduler, StoreClock clock) {
		this.task = task;
		this.methods = methods;
		this.scheduler = scheduler;
		this.clock = clock;
		this.reports = new JobReports(task);
		this.latest = (methods.size() == 1) ? methods.iterator().next().latest() : new LatestPlanned();
		this.timer = new JobTimer(task, scheduler, clock);
		this.plan = new JobPlan("once", null, scheduler.getClock());
	}

	/**
	 * Schedule a task that is called at the times that a trigger plans.
	 */
	@Nullable ScheduledFuture<?> byTrigger(Trigger trigger) {
		JobTrigger instants = new JobTrigger(trigger, this.clock);
		return schedule(new JobPlan(JobPlan.describe(trigger, own()), instants, own()),
				() -> fire(new Schedule.Planned(instants.take())));
	}

	/**
	 * Schedule a task whose planned times follow from the last run.
	 * @param start when it is called first, by the scheduler's clock
	 */
	ScheduledFuture<?> periodic(Schedule schedule, Instant start) {
		JobPlan plan = new JobPlan(JobPlan.describe(schedule), new PeriodicJobTrigger(schedule, start, this.clock),
				own());
		return Objects.requireNonNull(schedule(plan, () -> {
			if (plan.isDue()) {
				fire(schedule);
			}
		}));
	}

	private @Nullable ScheduledFuture<?> schedule(JobPlan plan, Runnable action) {
		this.plan = plan;
		this.future = this.onlyOnRequest ? new NoFiring()
				: this.scheduler.schedule(new Firing(this.task, action), plan.watched());
		return this.future;
	}

	/**
	 * Schedule a task that is called once and has no planned time.
	 */
	ScheduledFuture<?> once(Instant start) {
		return this.onlyOnRequest ? new NoFiring()
				: this.scheduler.schedule(new Firing(this.task, () -> fire(null)), start);
	}

	/**
	 * Do not fire by the schedule, which must not have begun.
	 */
	void fireOnlyOnRequest() {
		this.onlyOnRequest = true;
	}

	/**
	 * Call something in a thread of the scheduler.
	 * @throws org.springframework.core.task.TaskRejectedException if the scheduler
	 * accepts no more tasks
	 */
	Future<?> submit(Runnable action) {
		return this.scheduler.schedule(new Firing(this.task, action), own().instant());
	}

	/**
	 * Request the time that the schedule planned. A period makes a retry earlier, and a
	 * planned time overtakes the one before.
	 */
	void fire(@Nullable Schedule schedule) {
		Retry same;
		Retry overtaken;
		synchronized (this) {
			same = this.timer.takeRetry((request) -> Objects.equals(request.schedule(), schedule));
			if (same == null && schedule instanceof Schedule.Planned planned) {
				this.latest.fired(planned.at(), now());
			}
			overtaken = this.timer.takeRetry((request) -> request.isOvertakenBy(latest()));
		}
		if (overtaken != null) {
			this.reports.decided(NextFiring.overtaken(overtaken.answer()));
		}
		call((same != null) ? same.request() : JobRequest.first(schedule));
	}

	void call(JobRequest request) {
		new BoundCall(this, request).run(this.task);
	}

	/**
	 * Record an answer that has just arrived.
	 * @param first whether it is the first one to its call. The answer to a repeated
	 * request repeats the start of the run, so only the first one shows the server's
	 * clock
	 */
	void answered(Answer answer, boolean first) {
		Instant serverTime = answer.serverTime();
		if (first && serverTime != null && answer.asked() != null) {
			learn(serverTime, answer.asked().sent());
		}
		this.plan.answered(answer, now());
	}

	void unlocked(JobRequest request) {
		this.plan.settled(request.schedule(), now());
	}

	/**
	 * Act on the answer to a call whose method has returned.
	 */
	void follow(Answer answer) {
		this.reports.answered(answer, this.plan);
		NextFiring next;
		synchronized (this) {
			// With the lock, so that a retry does not replace that of a later planned
			// time
			next = NextFiring.after(answer, latest(), now(), NextFiring.pause(answer.request().earlier()));
			NextFiring further = (next instanceof Missed missed) ? missed.then()
					: (next instanceof NotDue notDue) ? this.plan.replan(notDue.planned(), now()) : next;
			if (further instanceof Timed timed) {
				this.timer.replace(timed, this.plan, this::elapsed);
			}
		}
		this.reports.decided(next);
	}

	private void elapsed(Timed next) {
		if (isCancelled()) {
			return;
		}
		if (next instanceof Retry retry && retry.answer().request().isOvertakenBy(latest())) {
			this.reports.decided(NextFiring.overtaken(retry.answer()));
		}
		else {
			call(next.request());
		}
	}

	boolean isCancelled() {
		ScheduledFuture<?> future = this.future;
		return this.timer.isClosed() || (future != null && future.isCancelled());
	}

	/**
	 * Cancel the tasks that would delay the shutdown of a scheduler that waits for its
	 * tasks. The scheduler cancels periodic tasks itself, but does not recognize timers
	 * and triggers as such.
	 */
	void close() {
		this.timer.close();
		ScheduledFuture<?> future = this.future;
		if (this.plan.isPeriodic() && future != null) {
			future.cancel(false);
		}
	}

	JobPlan plan() {
		return this.plan;
	}

	JobTimer timer() {
		return this.timer;
	}

	JobReports reports() {
		return this.reports;
	}

	/**
	 * Return the latest planned time of the job that was fired and is due.
	 */
	@Nullable Instant latest() {
		return this.latest.at(now());
	}

	void learn(Instant serverTime, long sent) {
		this.clock.learn(serverTime, sent, own());
	}

	long nanoTime() {
		return this.clock.nanoTime();
	}

	Instant now() {
		return this.clock.now(own());
	}

	private Clock own() {
		return this.scheduler.getClock();
	}

	Runnable task() {
		return this.task;
	}

	Collection<JobMethod> methods() {
		return this.methods;
	}

}
