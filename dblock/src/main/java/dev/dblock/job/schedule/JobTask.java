package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Delayed;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.JobMethod.Declaration;
import dev.dblock.job.schedule.ScheduledCall.Attempt;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;

/**
 * One schedule of a job on this instance. The scheduler fires it at the times that its
 * trigger plans. It fires once more if an answer that arrives too late for the trigger
 * shows that the job is due earlier. It also repeats the request for a planned time that
 * no answer has settled.
 */
final class JobTask {

	private static final Logger logger = LoggerFactory.getLogger(JobTask.class);

	/**
	 * The pause before another request for a time that is due by this clock, but not by
	 * the server's.
	 */
	private static final Duration SOON = Duration.ofMillis(100);

	/** The pause before the second attempt. Each further pause is twice as long. */
	private static final Duration SHORTEST_PAUSE = Duration.ofMillis(250);

	private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);

	private final Runnable task;

	private final Collection<JobMethod> methods;

	private final TaskScheduler scheduler;

	private final StoreClock clock;

	private final JobReports reports;

	/**
	 * The latest planned time that was fired, even if it was fired by a wrong clock. All
	 * schedules of a job share it.
	 */
	private final AtomicReference<@Nullable Instant> latest;

	private volatile JobPlan plan;

	private volatile @Nullable JobTrigger planning;

	private @Nullable PeriodicJobTrigger periodic;

	private volatile @Nullable ScheduledFuture<?> future;

	private @Nullable ScheduledFuture<?> followUp;

	/** The call to repeat, at the follow-up or at the next period. */
	private @Nullable ScheduledCall stillDue;

	private volatile boolean closed;

	private boolean onlyOnRequest;

	/**
	 * Whether this is the only schedule of its job. If it is not, another schedule may
	 * have planned the times that this one does not plan.
	 */
	private volatile BooleanSupplier alone = () -> false;

	JobTask(Runnable task, Collection<JobMethod> methods, TaskScheduler scheduler, StoreClock clock) {
		this.task = task;
		this.methods = methods;
		this.scheduler = scheduler;
		this.clock = clock;
		this.reports = new JobReports(task);
		this.latest = isOfOneMethod() ? methods.iterator().next().latest() : new AtomicReference<>();
		this.plan = new JobPlan("once", null, scheduler.getClock());
	}

	/**
	 * Schedule a task that is called at the times that a trigger plans.
	 */
	@Nullable ScheduledFuture<?> byTrigger(Trigger trigger) {
		JobTrigger planning = new JobTrigger(trigger, this.clock);
		this.planning = planning;
		return schedule(JobPlan.describe(trigger), planning, () -> fire(new Schedule.Planned(planning.take())));
	}

	/**
	 * Schedule a task whose planned times follow from the last run.
	 * @param start when it is called first, by the scheduler's clock
	 */
	ScheduledFuture<?> periodic(Schedule schedule, Instant start) {
		PeriodicJobTrigger trigger = new PeriodicJobTrigger(schedule, start, this.clock);
		this.periodic = trigger;
		String description = (schedule instanceof Schedule.FixedRate rate)
				? "fixed rate " + Durations.written(rate.period())
				: "fixed delay " + Durations.written(((Schedule.FixedDelay) schedule).delay());
		return Objects.requireNonNull(schedule(description, trigger, () -> {
			if (trigger.isDue(own())) {
				fire(schedule);
			}
		}));
	}

	private @Nullable ScheduledFuture<?> schedule(String description, PlannedTrigger trigger, Runnable action) {
		JobPlan plan = new JobPlan(description, trigger, own());
		this.plan = plan;
		ScheduledFuture<?> future = this.onlyOnRequest ? new NoFiring()
				: this.scheduler.schedule(firing(action), plan.watched(trigger));
		this.future = future;
		return future;
	}

	/**
	 * Schedule a task that is called once and has no planned time.
	 */
	ScheduledFuture<?> once(Instant start) {
		return this.onlyOnRequest ? new NoFiring() : this.scheduler.schedule(firing(() -> fire(null)), start);
	}

	/**
	 * Do not fire by the schedule, which must not have begun.
	 */
	void fireOnlyOnRequest() {
		this.onlyOnRequest = true;
	}

	/**
	 * Call something in a thread of the scheduler.
	 * @throws TaskRejectedException if the scheduler accepts no more tasks
	 */
	Future<?> submit(Runnable action) {
		return this.scheduler.schedule(firing(action), own().instant());
	}

	private Runnable firing(Runnable action) {
		return new Firing(this.task, action);
	}

	void fire(@Nullable Schedule schedule) {
		call(begin(schedule));
	}

	/**
	 * Create the call for the time that the schedule planned. A periodic schedule repeats
	 * a call that is still due. A new planned time supersedes the one before.
	 */
	private synchronized ScheduledCall begin(@Nullable Schedule schedule) {
		ScheduledCall before = this.stillDue;
		if (before != null && before.schedule() != null && before.schedule().equals(schedule)) {
			cancelFollowUp();
			return before.again();
		}
		if (!(schedule instanceof Schedule.Planned planned)) {
			return new ScheduledCall(this, schedule, Attempt.first(null));
		}
		// A firing can also be for a time before the latest, which a full scheduler
		// rejected
		this.latest.updateAndGet(
				(known) -> (known == null || isAhead(known) || planned.at().isAfter(known)) ? planned.at() : known);
		if (before != null && isOvertaken(before)) {
			cancelFollowUp();
			overtaken(before);
		}
		return new ScheduledCall(this, schedule, Attempt.first(planned.at()));
	}

	void callPlanned(Instant planned) {
		call(new ScheduledCall(this, new Schedule.Planned(planned), Attempt.first(planned)));
	}

	void call(ScheduledCall call) {
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
		if (call.schedule() == null) {
			return;
		}
		this.reports.answered(call.failure(), call.schedule(), call.declaration());
		compare(call.refusal(), call.declaration());
		if (isOvertaken(call)) {
			overtaken(call);
			return;
		}
		Again next = following(call, call.schedule());
		if (next == null) {
			return;
		}
		boolean planned = this.periodic != null && !this.periodic.isLateFor(next.at(), own());
		cancelFollowUp();
		this.stillDue = next.stillDue();
		if (!planned) {
			schedule(next.at(), () -> repeat(next));
		}
	}

	synchronized void schedule(Instant at, Runnable action) {
		if (this.closed) {
			return;
		}
		try {
			this.followUp = this.scheduler.schedule(firing(action), this.clock.toOwn(at, own()));
		}
		catch (TaskRejectedException ex) {
			logger.debug("The scheduler does not accept the firing of {} at {}", this.task, at, ex);
		}
	}

	private void repeat(Again again) {
		PeriodicJobTrigger periodic = this.periodic;
		if (isCancelled()) {
			return;
		}
		ScheduledCall call = again.call();
		synchronized (this) {
			// The schedule may already have repeated the call, which must not be
			// requested twice at a time
			if (this.stillDue != again.stillDue()) {
				return;
			}
			if (periodic != null && !periodic.isDue(own())) {
				// It is early if the clock was corrected since it was scheduled
				if (again.at().isAfter(now())) {
					schedule(again.at(), () -> repeat(again));
				}
				return;
			}
			if (this.stillDue != null) {
				ScheduledCall due = this.stillDue;
				this.stillDue = null;
				if (isOvertaken(due)) {
					overtaken(due);
					return;
				}
				call = due.again();
			}
		}
		call(call);
	}

	boolean isCancelled() {
		ScheduledFuture<?> future = this.future;
		return this.closed || (future != null && future.isCancelled());
	}

	private void cancelFollowUp() {
		if (this.followUp != null) {
			this.followUp.cancel(false);
			this.followUp = null;
		}
		this.stillDue = null;
	}

	/**
	 * Cancel the tasks that would delay the shutdown of a scheduler that waits for its
	 * tasks. The scheduler cancels periodic tasks itself, but does not recognize
	 * follow-ups and triggers as such.
	 */
	synchronized void close() {
		this.closed = true;
		cancelFollowUp();
		ScheduledFuture<?> future = this.future;
		if (this.periodic != null && future != null) {
			future.cancel(false);
		}
	}

	private @Nullable Again following(ScheduledCall call, Schedule schedule) {
		JobRun run = call.run();
		if (run != null) {
			return afterRun(schedule, run);
		}
		Again again = call.isStillDue() ? stillDue(call, schedule) : null;
		return (again != null) ? again : afterRefusal(call, schedule);
	}

	private @Nullable Again afterRun(Schedule schedule, JobRun run) {
		if (schedule instanceof Schedule.FixedRate rate) {
			Instant due = run.plannedAt().plus(rate.period());
			return again(due.isAfter(now()) ? due : now(), rate);
		}
		if (schedule instanceof Schedule.FixedDelay delay) {
			return again(now().plus(delay.delay()), delay);
		}
		// After the repetition of a crashed run, this planned time is still to come
		Instant planned = ((Schedule.Planned) schedule).at();
		return run.plannedAt().isBefore(planned) ? again(planned, schedule) : null;
	}

	private Again again(Instant at, Schedule schedule) {
		return new Again(at, new ScheduledCall(this, schedule,
				Attempt.first((schedule instanceof Schedule.Planned planned) ? planned.at() : null)), null);
	}

	/**
	 * Repeat the request for a planned time that no answer has settled. This happens
	 * after a pause, which differs between instances, or when the lease of the holder
	 * could have ended.
	 */
	private @Nullable Again stillDue(ScheduledCall call, Schedule schedule) {
		Duration pause = pause(call.attempt().earlier());
		LockRefusal refusal = call.refusal();
		if (refusal != null && refusal.holder() != null) {
			pause = shorter(pause, refusal.holder().remaining());
		}
		Instant now = now();
		if (!(schedule instanceof Schedule.Planned planned)) {
			pause = shorter(pause, (schedule instanceof Schedule.FixedRate rate) ? rate.period()
					: ((Schedule.FixedDelay) schedule).delay());
			return new Again(now.plus(pause), call, call);
		}
		Instant at = now.plus(pause);
		Declaration declaration = call.declaration();
		if (call.attempt().look() || declaration == null) {
			return new Again(at, call, call);
		}
		Instant until = planned.at().plus(declaration.startWithin());
		if (!now.isBefore(until)) {
			this.reports.missed(call, "within " + Durations.readable(declaration.startWithin()));
			return null;
		}
		return new Again(at.isBefore(until) ? at : until, call, call);
	}

	static Duration pause(int earlier) {
		long longest = Math.min(LONGEST_PAUSE.toMillis(), SHORTEST_PAUSE.toMillis() << Math.min(earlier, 10));
		return Duration.ofMillis(ThreadLocalRandom.current().nextLong(longest / 2, longest + 1));
	}

	private static Duration shorter(Duration pause, Duration other) {
		Duration shortest = (other.compareTo(SOON) < 0) ? SOON : other;
		return (shortest.compareTo(pause) < 0) ? shortest : pause;
	}

	private boolean isOvertaken(ScheduledCall call) {
		Instant asOf = call.attempt().asOf();
		Instant latest = latest();
		return asOf != null && latest != null && latest.isAfter(asOf);
	}

	/**
	 * Return the latest planned time that was fired and has come. A time that was fired
	 * before it was due does not supersede any other.
	 */
	@Nullable Instant latest() {
		Instant latest = this.latest.get();
		return (latest == null || isAhead(latest)) ? null : latest;
	}

	private boolean isAhead(Instant planned) {
		return planned.isAfter(now().plus(JobTrigger.AHEAD));
	}

	/**
	 * End a call whose next planned time has come. A refusal by the server was already
	 * logged as skipped.
	 */
	private void overtaken(ScheduledCall call) {
		if (call.failure() != null && !call.attempt().look()) {
			this.reports.missed(call, "before its next planned time");
		}
	}

	private @Nullable Again afterRefusal(ScheduledCall call, Schedule schedule) {
		LockRefusal refusal = call.refusal();
		JobRefusal job = (refusal != null) ? refusal.job() : null;
		if (refusal == null || job == null) {
			return null;
		}
		Instant leaseEnd = call.isRerun() ? leaseEnd(refusal, job) : null;
		if (schedule instanceof Schedule.Planned planned) {
			if (job.reason() == JobRefusal.Reason.NOT_DUE) {
				return call.attempt().look() ? new Again(later(planned.at()), call.again(), null)
						: notDue(planned.at());
			}
			return (leaseEnd != null && job.last() != null) ? new Again(leaseEnd, look(job.last()), null) : null;
		}
		Instant due = job.nextDue();
		if (due != null && !due.isAfter(now())) {
			// A time that is already due while the job runs is left to the next period
			due = (job.reason() == JobRefusal.Reason.NOT_DUE) ? now().plus(SOON) : null;
		}
		if (leaseEnd != null && (due == null || leaseEnd.isBefore(due))) {
			due = leaseEnd;
		}
		return (due != null) ? again(due, schedule) : null;
	}

	/**
	 * Fire a planned time again that is due only by the clock of this instance. It is
	 * fired when it is due by the server's clock, unless the trigger does that.
	 */
	private @Nullable Again notDue(Instant planned) {
		JobTrigger planning = this.planning;
		Instant due = (planning != null) ? planning.planAgain(planned, own()) : null;
		if (due == null) {
			return null;
		}
		this.plan.plannedAgain(due);
		return again(later(due), new Schedule.Planned(due));
	}

	private Instant later(Instant due) {
		Instant soon = now().plus(SOON);
		return due.isAfter(soon) ? due : soon;
	}

	/**
	 * Return the call that repeats a run if it crashed.
	 */
	ScheduledCall look(JobRun run) {
		Instant planned = run.plannedAt();
		Instant latest = latest();
		return new ScheduledCall(this, new Schedule.Planned(planned),
				Attempt.look((latest != null && latest.isAfter(planned)) ? latest : planned));
	}

	/**
	 * Return when the lease of a run that is in progress could have ended.
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

	private void compare(@Nullable LockRefusal refusal, @Nullable Declaration declaration) {
		JobRun last = (refusal != null && refusal.job() != null) ? refusal.job().last() : null;
		if (last != null && declaration != null && !this.plan.hasDisagreed() && this.alone.getAsBoolean()) {
			this.plan.compare(List.of(last), declaration.zones());
		}
	}

	void alone(BooleanSupplier alone) {
		this.alone = alone;
	}

	/**
	 * Record that a planned time was run, is being run, or is skipped.
	 */
	void answered(Schedule schedule) {
		this.plan.answered((schedule instanceof Schedule.Planned planned) ? planned.at() : now());
	}

	JobPlan plan() {
		return this.plan;
	}

	JobReports reports() {
		return this.reports;
	}

	/**
	 * Whether the schedule plans instants, as a cron expression does.
	 */
	boolean plansInstants() {
		return this.planning != null;
	}

	boolean plans(Instant instant) {
		JobTrigger planning = this.planning;
		return planning != null && planning.plans(instant, own());
	}

	@Nullable Instant latestAfter(Instant last, boolean open, Instant earliest) {
		JobTrigger planning = this.planning;
		return (planning != null) ? planning.latestAfter(last, open, earliest, own()) : null;
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

	boolean isOfOneMethod() {
		return this.methods.size() == 1;
	}

	boolean isOf(JobMethod method) {
		return this.methods.contains(method);
	}

	/**
	 * A further firing.
	 *
	 * @param at when, by the server's clock
	 * @param call the call, or the one that is repeated
	 * @param stillDue the call that is repeated; {@code null} if it is another one
	 */
	private record Again(Instant at, ScheduledCall call, @Nullable ScheduledCall stillDue) {
	}

	/**
	 * The future of a schedule that does not fire.
	 */
	private static final class NoFiring extends CompletableFuture<Object> implements ScheduledFuture<Object> {

		@Override
		public long getDelay(TimeUnit unit) {
			return 0;
		}

		@Override
		public int compareTo(Delayed other) {
			return Long.compare(getDelay(TimeUnit.NANOSECONDS), other.getDelay(TimeUnit.NANOSECONDS));
		}

	}

}
