package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.Answer.Asked;
import dev.dblock.job.schedule.JobMethod.Declaration;
import dev.dblock.job.schedule.NextFiring.At;
import dev.dblock.job.schedule.NextFiring.Missed;
import dev.dblock.job.schedule.NextFiring.NotDue;
import dev.dblock.job.schedule.NextFiring.Retry;
import dev.dblock.job.schedule.NextFiring.Timed;
import dev.dblock.job.trigger.JobTrigger;
import dev.dblock.job.trigger.PeriodicJobTrigger;
import dev.dblock.job.trigger.PlannedTimes;
import dev.dblock.job.trigger.StoreClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;

/**
 * One schedule of a job on this instance. The scheduler fires it at the times that its
 * trigger plans. After each answer, {@link NextFiring} decides whether it fires once
 * more, which needs a timer unless the trigger plans that.
 */
final class JobTask {

	private static final Logger logger = LoggerFactory.getLogger(JobTask.class);

	private final Runnable task;

	private final Collection<JobMethod> methods;

	private final TaskScheduler scheduler;

	private final StoreClock clock;

	private final JobReports reports;

	private final PlannedTimeAccount account;

	private final MissedTimes missed;

	private final LatestPlanned latest;

	private final JobTimer timer;

	private final JobPlans plans;

	private volatile JobPlan plan;

	private volatile @Nullable ScheduledFuture<?> future;

	private boolean onlyOnRequest;

	/** The shards of the job; {@code null} if it has none. */
	private volatile @Nullable Shards shards;

	/** The schedule of the job, if this is a shard of it. */
	private final @Nullable JobTask whole;

	JobTask(Runnable task, Collection<JobMethod> methods, TaskScheduler scheduler, StoreClock clock) {
		this(task, methods, scheduler, clock, null);
	}

	private JobTask(Runnable task, Collection<JobMethod> methods, TaskScheduler scheduler, StoreClock clock,
			@Nullable JobTask whole) {
		this.task = task;
		this.methods = methods;
		this.scheduler = scheduler;
		this.clock = clock;
		this.whole = whole;
		this.plans = (whole != null) ? whole.plans : new JobPlans(this::plan);
		this.reports = (whole != null) ? whole.reports : new JobReports(task);
		this.account = new PlannedTimeAccount(this.plans, this.reports::outage, clock::started, this::begun);
		this.latest = (methods.size() == 1) ? methods.iterator().next().latest() : new LatestPlanned();
		this.timer = new JobTimer(task, scheduler, clock);
		this.missed = new MissedTimes(this.timer, this.reports, this.account, this::now, this::isCancelled);
		this.plan = (whole != null) ? whole.plan : new JobPlan("once", null, clock, scheduler.getClock());
	}

	/**
	 * Schedule a task that is called at the times that a trigger plans.
	 */
	ScheduledFuture<?> byTrigger(Trigger trigger) {
		this.methods.stream()
			.filter(JobMethod::isSharded)
			.findFirst()
			.ifPresent((method) -> this.shards = new Shards(this, method));
		JobTrigger instants = new JobTrigger(trigger, this.clock);
		return schedule(new JobPlan(JobPlan.describe(trigger, own()), instants, this.clock, own()),
				() -> fireDue(instants));
	}

	private void fireDue(JobTrigger instants) {
		Instant taken = instants.take();
		if (!this.clock.isKnown()) {
			learnTime();
		}
		Instant due = instants.due(taken, own());
		// If the clock of this instance was behind when it started, a cron expression has
		// planned a time before that
		if (instants.cron() == null || !due.isBefore(this.clock.started())) {
			fire(new Schedule.Planned(due));
		}
	}

	/**
	 * Ask the server for its time, without which no planned time is requested that may
	 * long be over. If it does not answer, the request for the lock does not succeed
	 * either.
	 */
	void learnTime() {
		if (this.methods.isEmpty()) {
			return;
		}
		try {
			long sent = nanoTime();
			this.methods.iterator()
				.next()
				.declaration()
				.engine()
				.administration()
				.time(JobRequest.patience(0))
				.ifPresent((time) -> learn(time.notBefore(), sent));
		}
		catch (DataAccessException ex) {
			logger.debug("The time of the server could not be read for {}", this.task, ex);
		}
	}

	/**
	 * Schedule a task whose planned times follow from the last run.
	 * @param start when it is called first, by the scheduler's clock
	 */
	ScheduledFuture<?> periodic(Schedule schedule, Instant start) {
		checkNoShards();
		JobPlan plan = new JobPlan(JobPlan.describe(schedule), new PeriodicJobTrigger(schedule, start, this.clock),
				this.clock, own());
		return schedule(plan, () -> {
			if (plan.isDue()) {
				this.timer.firedInTime();
				fire(schedule);
			}
			else {
				this.timer.firedEarly(plan, this::elapsed);
			}
		});
	}

	private ScheduledFuture<?> schedule(JobPlan plan, Runnable action) {
		this.plan = plan;
		return schedule(plan.watched(), action);
	}

	private ScheduledFuture<?> schedule(Trigger trigger, Runnable action) {
		ScheduledFuture<?> future = this.onlyOnRequest ? null
				: this.scheduler.schedule(new StandInTask(this.task, action), trigger);
		if (future == null) {
			future = new NoFiring(this);
		}
		this.future = future;
		return future;
	}

	/**
	 * Schedule a task that is called once and has no planned time.
	 */
	ScheduledFuture<?> once(Instant start) {
		checkNoShards();
		// By a trigger, since the future of a call that is over refers to its task no
		// longer, and an operator can request another call
		return schedule((called) -> (called.lastScheduledExecution() == null) ? start : null, () -> fire(null));
	}

	private void checkNoShards() {
		if (this.methods.stream().anyMatch(JobMethod::isSharded)) {
			throw invalidShards(this.methods);
		}
	}

	static InvalidJobException invalidShards(Collection<JobMethod> methods) {
		return new InvalidJobException(methods.stream()
			.map((method) -> method.place() + ": shards need one schedule of one bean, with a cron expression or a"
					+ " trigger, which plans the same times on each instance; give it one, or remove the shards")
			.collect(Collectors.toCollection(TreeSet::new)));
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
		return this.scheduler.schedule(new StandInTask(this.task, action), own().instant());
	}

	/**
	 * Request the time that the schedule planned. A period makes a retry earlier, and a
	 * planned time overtakes the one before.
	 */
	void fire(@Nullable Schedule schedule) {
		Shards shards = this.shards;
		if (shards != null && schedule instanceof Schedule.Planned planned) {
			shards.fire(planned.at(), () -> fireNow(schedule));
		}
		else {
			fireNow(schedule);
		}
	}

	private void fireNow(@Nullable Schedule schedule) {
		Retry same;
		synchronized (this) {
			same = this.timer.takeRetry((request) -> Objects.equals(request.schedule(), schedule));
			if (same == null && schedule instanceof Schedule.Planned planned) {
				this.latest.fired(planned.at(), now());
			}
			this.timer.takeRetry((request) -> request.isOvertakenBy(latest()));
		}
		call((same != null) ? same.request() : JobRequest.first(schedule));
	}

	void call(JobRequest request) {
		Shards own = this.shards;
		Shards others = (this.whole != null) ? this.whole.shards : null;
		if (own != null) {
			own.request(request);
		}
		else if (others != null) {
			others.call(() -> {
				if (!request.isOvertakenBy(latest())) {
					callMethod(request);
				}
			});
		}
		else {
			callMethod(request);
		}
	}

	/**
	 * Call the method for the job as a whole, or for one of its shards.
	 */
	void callMethod(JobRequest request) {
		new BoundCall(this, request).run(this.task);
	}

	/**
	 * Create the task for a shard, which has no trigger of its own.
	 */
	JobTask shard(JobMethod shard) {
		return new JobTask(this.task, List.of(shard), this.scheduler, this.clock, this);
	}

	/**
	 * Return the planned times between two others that have begun, and in which this
	 * shard takes part; all of them if this is not a shard.
	 */
	private PlannedTimes begun(PlannedTimes planned, Instant after, Instant before) {
		Shards shards = (this.whole != null) ? this.whole.shards : null;
		return (shards != null) ? shards.begun(after, before, this.methods.iterator().next()) : planned;
	}

	/**
	 * Whether this instance works on the shards of a planned time.
	 */
	boolean isWorking() {
		Shards shards = this.shards;
		return shards != null && shards.isWorking();
	}

	/**
	 * Record that this instance did not request a planned time, since it was working on
	 * the shards of an earlier one.
	 */
	void passedOver(Instant planned) {
		this.account.passedOver(planned);
	}

	/**
	 * Record that this instance begins to work on the shards of a planned time.
	 */
	void worksSince(Instant now) {
		this.account.worksSince(now);
	}

	/**
	 * Request the shards of the last planned time from before this instance started, if
	 * it has begun with shards.
	 */
	void resume(JobRun last) {
		Shards shards = this.shards;
		if (shards != null) {
			shards.resume(last);
		}
	}

	/**
	 * Request a planned time from before this instance started, after the shards of the
	 * one before.
	 * @param last the last run of the record
	 */
	void catchUp(JobRun last, Schedule.Planned planned) {
		Shards shards = this.shards;
		if (shards != null) {
			shards.resume(last);
			shards.fireLater(planned.at(), () -> fireNow(planned));
		}
		else {
			call(JobRequest.first(planned));
		}
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

	/**
	 * Report what a run settles, before its work begins.
	 */
	void granted(Answer answer) {
		Asked asked = answer.asked();
		JobRun run = answer.run();
		if (asked != null && run != null) {
			this.account.granted(asked, run);
			if (this.whole != null && this.whole.shards != null) {
				this.whole.shards.workBegins(run);
			}
		}
	}

	void unlocked(JobRequest request) {
		this.account.unlocked(request.schedule());
		this.plan.closed(request.schedule(), now());
	}

	/**
	 * Act on the answer to a call whose method has returned.
	 */
	void follow(Answer answer) {
		String outage = this.reports.outage();
		this.reports.answered(answer, this.plan, this.plans);
		this.account.failed(answer);
		NextFiring next;
		synchronized (this) {
			// With the lock, so that a retry does not replace that of a later planned
			// time
			next = NextFiring.after(answer, latest(), now(), NextFiring.pause(answer.request().earlier()));
			NextFiring further = (next instanceof NotDue notDue)
					? this.plan.replan(notDue.planned(), answer.request().shards(), now()) : next;
			if (further instanceof Timed timed) {
				this.timer.replace(timed, this.plan, this::elapsed);
			}
			else if (answer.run() != null) {
				// A later planned time that was refused because of this run starts now
				Retry overlapped = this.timer.takeRetry((request) -> true);
				if (overlapped != null) {
					this.timer.replace(new Retry(now(), overlapped.answer()), this.plan, this::elapsed);
				}
			}
		}
		if (next instanceof Missed) {
			this.missed.record(answer, outage);
		}
		this.account.refused(answer);
	}

	private void elapsed(Timed next) {
		if (!isCancelled() && !(next instanceof Retry retry && retry.answer().request().isOvertakenBy(latest()))) {
			JobRequest request = next.request();
			Shards shards = this.shards;
			if (shards != null && next instanceof At && !request.look()
					&& request.schedule() instanceof Schedule.Planned planned) {
				// After the shards of a beginning that was repeated
				shards.fireLater(planned.at(), () -> shards.request(request));
			}
			else {
				call(request);
			}
		}
	}

	/**
	 * Record that a planned time from before the start was missed, once it can no longer
	 * start, unless a firing comes first.
	 * @param at when it can no longer start
	 */
	void missedAt(Instant at, JobMethod method, Instant planned) {
		this.missed.recordAt(at, () -> latest() == null, () -> {
			Schedule schedule = new Schedule.Planned(planned);
			JobRequest request = JobRequest.first(schedule);
			Declaration declaration = method.declaration();
			JobFiring firing = request.firing(declaration, schedule, true, this.plans.text());
			return new Answer(request, new Asked(method, declaration, firing, nanoTime()), null, null, null);
		});
	}

	/**
	 * Fire at the time that the schedule plans by the server's clock, if the trigger was
	 * asked before that was known.
	 */
	void planAgain() {
		if (!this.clock.isKnown()) {
			learnTime();
		}
		synchronized (this) {
			if (latest() == null && this.plan.planAgain(now()) instanceof Timed timed) {
				this.timer.replace(timed, this.plan, this::elapsed);
			}
		}
	}

	boolean isCancelled() {
		ScheduledFuture<?> future = this.future;
		return this.timer.isClosed() || (future != null && future.isCancelled())
				|| (this.whole != null && this.whole.isCancelled());
	}

	/**
	 * Cancel the tasks that would delay the shutdown of a scheduler that waits for its
	 * tasks. The scheduler cancels periodic tasks itself, but does not recognize timers
	 * and triggers as such.
	 */
	void close() {
		this.timer.close();
		Shards shards = this.shards;
		if (shards != null) {
			shards.close();
		}
		ScheduledFuture<?> future = this.future;
		if (this.plan.isPeriodic() && future != null) {
			future.cancel(false);
		}
	}

	/**
	 * Set where to find all tasks of the job.
	 */
	void tasks(Supplier<List<JobTask>> tasks) {
		this.plans.find(() -> tasks.get().stream().map(JobTask::plan).toList());
	}

	JobPlans plans() {
		return this.plans;
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
