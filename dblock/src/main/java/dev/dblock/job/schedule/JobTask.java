package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobSchedule;
import dev.dblock.job.JobStatus;
import dev.dblock.job.ManualRun;
import dev.dblock.job.ManualRun.Outcome;
import dev.dblock.job.RunOutcome;
import dev.dblock.job.schedule.ScheduledCall.Attempt;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.TaskRejectedException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.scheduling.SchedulingAwareRunnable;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.support.CronTrigger;

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

	private static final String CRON = "cron ";

	private final Runnable task;

	private final Collection<JobMethod> methods;

	private final TaskScheduler scheduler;

	private final StoreClock clock;

	private @Nullable PeriodicJobTrigger periodic;

	private volatile @Nullable ScheduledFuture<?> future;

	private @Nullable ScheduledFuture<?> followUp;

	/** The call to repeat, at the follow-up or at the next period. */
	private @Nullable ScheduledCall stillDue;

	/**
	 * The latest planned time that was fired, even if it was fired by a wrong clock.
	 */
	private @Nullable Instant latest;

	private boolean unreachable;

	private volatile boolean closed;

	private volatile @Nullable PlannedTrigger trigger;

	private volatile String description = "once";

	private final OpenTime open = new OpenTime();

	private volatile @Nullable Instant first;

	private final AtomicBoolean disagreed = new AtomicBoolean();

	private volatile BooleanSupplier alone = () -> false;

	JobTask(Runnable task, Collection<JobMethod> methods, TaskScheduler scheduler, StoreClock clock) {
		this.task = task;
		this.methods = methods;
		this.scheduler = scheduler;
		this.clock = clock;
	}

	/**
	 * Schedule a task that is called at the times that a trigger plans.
	 */
	@Nullable ScheduledFuture<?> byTrigger(Trigger trigger) {
		JobTrigger planning = new JobTrigger(trigger, this.clock);
		this.description = (trigger instanceof CronTrigger cron) ? CRON + cron.getExpression() : "trigger " + trigger;
		ScheduledFuture<?> future = this.scheduler.schedule(firing(() -> fire(new Schedule.Planned(planning.take()))),
				watched(planning));
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
		this.description = (schedule instanceof Schedule.FixedRate rate)
				? "fixed rate " + Durations.written(rate.period())
				: "fixed delay " + Durations.written(((Schedule.FixedDelay) schedule).delay());
		ScheduledFuture<?> future = Objects.requireNonNull(this.scheduler.schedule(firing(() -> {
			if (trigger.isDue(this.scheduler.getClock())) {
				fire(schedule);
			}
		}), watched(trigger)));
		this.future = future;
		return future;
	}

	/**
	 * Schedule a task that is called once and has no planned time.
	 */
	ScheduledFuture<?> once(Instant start) {
		return this.scheduler.schedule(firing(() -> fire(null)), start);
	}

	private Trigger watched(PlannedTrigger planning) {
		this.trigger = planning;
		return (context) -> {
			Instant next = planning.nextExecution(context);
			Instant planned = planning.planned();
			if (next != null && planned != null) {
				this.open.planned(planned);
				if (this.first == null) {
					this.first = planned;
				}
			}
			return next;
		};
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
		Instant latest = latest();
		if (latest == null || planned.at().isAfter(latest)) {
			this.latest = planned.at();
		}
		if (before != null && isOvertaken(before)) {
			cancelFollowUp();
			overtaken(before);
		}
		return new ScheduledCall(this, schedule, Attempt.first(planned.at()));
	}

	private void call(ScheduledCall call) {
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
		noteFailure(call.failure(), call.schedule(), call.declaration());
		compare(call.refusal(), call.declaration());
		if (isOvertaken(call)) {
			overtaken(call);
			return;
		}
		Again next = following(call, call.schedule());
		if (next == null) {
			return;
		}
		boolean planned = this.periodic != null && !this.periodic.isLateFor(next.at(), this.scheduler.getClock());
		cancelFollowUp();
		this.stillDue = next.stillDue();
		if (!planned) {
			schedule(next.at(), () -> repeat(next));
		}
	}

	private synchronized void schedule(Instant at, Runnable action) {
		if (this.closed) {
			return;
		}
		try {
			this.followUp = this.scheduler.schedule(firing(action), this.clock.toOwn(at, this.scheduler.getClock()));
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
			if (periodic != null && !periodic.isDue(this.scheduler.getClock())) {
				// It is early if the clock was corrected since it was scheduled
				if (again.at().isAfter(now())) {
					schedule(again.at(), () -> repeat(again));
				}
				return;
			}
			if (this.stillDue != null) {
				call = this.stillDue.again();
				this.stillDue = null;
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
		JobDeclaration declaration = call.declaration();
		if (call.attempt().look() || declaration == null) {
			return new Again(at, call, call);
		}
		Instant until = planned.at().plus(declaration.startWithin());
		if (!now.isBefore(until)) {
			missed(call, "within " + Durations.readable(declaration.startWithin()));
			return null;
		}
		return new Again(at.isBefore(until) ? at : until, call, call);
	}

	private static Duration pause(int earlier) {
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
	private @Nullable Instant latest() {
		Instant latest = this.latest;
		return (latest != null && latest.isAfter(now().plus(JobTrigger.AHEAD))) ? null : latest;
	}

	/**
	 * End a call whose next planned time has come. A refusal by the server was already
	 * logged as skipped.
	 */
	private void overtaken(ScheduledCall call) {
		if (call.failure() != null && !call.attempt().look()) {
			missed(call, "before its next planned time");
		}
	}

	/**
	 * Report a planned time that this instance abandons, and that no instance has run as
	 * far as this one knows.
	 */
	private void missed(ScheduledCall call, String end) {
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

	/**
	 * Log an outage once, and each attempt at DEBUG level.
	 */
	private void noteFailure(@Nullable RuntimeException failure, @Nullable Schedule schedule,
			@Nullable JobDeclaration declaration) {
		if (failure != null && !this.unreachable) {
			logger.warn(
					"The request to the MongoDB server for the lock of the job '{}' failed ({}). This instance"
							+ " retries until there is an answer{}",
					name(declaration), failure.getMessage(),
					(schedule instanceof Schedule.Planned && declaration != null)
							? ", for up to " + Durations.readable(declaration.startWithin()) : "");
		}
		if (failure != null) {
			logger.debug("The request to the MongoDB server for the lock of the job '{}' failed", name(declaration),
					failure);
		}
		this.unreachable = failure != null;
	}

	private String name(@Nullable JobDeclaration declaration) {
		String id = (declaration != null) ? declaration.storedId() : null;
		return (id != null) ? id : this.task.toString();
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
		Instant due = (this.trigger instanceof JobTrigger planning)
				? planning.planAgain(planned, this.scheduler.getClock()) : null;
		if (due == null) {
			return null;
		}
		this.open.plannedAgain(due);
		return again(later(due), new Schedule.Planned(due));
	}

	private Instant later(Instant due) {
		Instant soon = now().plus(SOON);
		return due.isAfter(soon) ? due : soon;
	}

	/**
	 * Return the call that repeats a run if it crashed.
	 */
	private ScheduledCall look(JobRun run) {
		Instant planned = run.plannedAt();
		Instant latest = latest();
		return new ScheduledCall(this, new Schedule.Planned(planned),
				Attempt.look((latest != null && latest.isAfter(planned)) ? latest : planned));
	}

	/**
	 * Check once for unfinished work from before the start: repeat the last run if it
	 * crashed, and run the latest planned time that no instance ran, if the job requires
	 * it. A periodic schedule is due at its start in any case. If a task can belong to
	 * several methods, only its first firing shows which record is its own.
	 * @param all all tasks, including those of the other schedules of this job
	 */
	void lookBack(Collection<JobTask> all) {
		if (this.trigger instanceof JobTrigger planning && isOfOneMethod()) {
			JobDeclaration declaration = this.methods.iterator().next().declaration();
			List<JobTrigger> schedules = all.stream()
				.filter((task) -> task.methods.equals(this.methods))
				.map((task) -> task.trigger)
				.filter(JobTrigger.class::isInstance)
				.map(JobTrigger.class::cast)
				.toList();
			if (declaration.rerun() || declaration.runMissed()) {
				schedule(now(), () -> lookBack(planning, schedules, declaration, 0, 0));
			}
		}
	}

	private void lookBack(JobTrigger planning, List<JobTrigger> schedules, JobDeclaration declaration, int earlier,
			int timeouts) {
		ScheduledCall call;
		try {
			long sent = nanoTime();
			Optional<JobStatus> status = declaration.status(ScheduledCall.patience(timeouts));
			status.ifPresent((found) -> learn(found.at(), sent));
			synchronized (this) {
				noteFailure(null, null, declaration);
				// A firing since then makes the same request, and for a later planned
				// time
				if (isCancelled() || latest() != null || status.isEmpty() || status.get().paused()
						|| status.get().runs().isEmpty()) {
					return;
				}
				call = unfinished(planning, schedules, declaration, status.get());
			}
		}
		catch (DataAccessException ex) {
			synchronized (this) {
				if (latest() == null) {
					noteFailure(ex, null, declaration);
					int more = (ex instanceof QueryTimeoutException) ? timeouts + 1 : 0;
					schedule(now().plus(pause(earlier)),
							() -> lookBack(planning, schedules, declaration, earlier + 1, more));
				}
			}
			return;
		}
		if (call != null) {
			call(call);
		}
	}

	private @Nullable ScheduledCall unfinished(JobTrigger planning, List<JobTrigger> schedules,
			JobDeclaration declaration, JobStatus status) {
		JobRun last = status.runs().get(0);
		boolean open = last.outcome() == RunOutcome.ABANDONED;
		Instant earliest = now().minus(declaration.startWithin());
		if (status.resumedAt() != null && status.resumedAt().isAfter(earliest)) {
			earliest = status.resumedAt();
		}
		Clock own = this.scheduler.getClock();
		// Otherwise the job had another schedule then
		boolean planned = schedules.stream().anyMatch((each) -> each.plans(last.plannedAt(), own));
		Instant missed = (planned && declaration.runMissed())
				? planning.latestAfter(last.plannedAt(), open, earliest, own) : null;
		if (missed != null) {
			// The request repeats a crashed run first if the job requires that
			return new ScheduledCall(this, new Schedule.Planned(missed), Attempt.first(missed));
		}
		boolean ended = last.outcome() == RunOutcome.SUCCEEDED || last.outcome() == RunOutcome.FAILED;
		return (declaration.rerun() && !ended) ? look(last) : null;
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

	/**
	 * Return the schedule and its next firing.
	 * @param zones the time zone of each cron expression that is declared with one
	 */
	JobSchedule schedule(Map<String, String> zones) {
		PlannedTrigger trigger = this.trigger;
		String description = this.description;
		if (description.startsWith(CRON)) {
			String zone = zones.get(description.substring(CRON.length()));
			description += " in " + ((zone != null) ? zone : this.scheduler.getClock().getZone());
		}
		return new JobSchedule(description, (trigger != null) ? trigger.next(this.scheduler.getClock()) : null);
	}

	private void compare(@Nullable LockRefusal refusal, @Nullable JobDeclaration declaration) {
		JobRun last = (refusal != null && refusal.job() != null) ? refusal.job().last() : null;
		if (last != null && declaration != null && !this.disagreed.get() && this.alone.getAsBoolean()) {
			compare(List.of(last), declaration.zones());
		}
	}

	/**
	 * Set the check for whether this is the only schedule of its job. If it is not,
	 * another schedule may have planned the times that this one does not plan.
	 */
	void alone(BooleanSupplier alone) {
		this.alone = alone;
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
			if (!run.plannedAt().isBefore(first) && !planning.isPlanned(run.plannedAt(), this.scheduler.getClock())
					&& this.disagreed.compareAndSet(false, true)) {
				logger.warn("The job '{}' was run by {} for the planned time {}, which is not in its schedule on this"
						+ " instance ({}). Instances with different schedules or time zones all run the job; give all"
						+ " of them the same schedule and time zone", run.jobId(), run.instance(), run.plannedAt(),
						schedule(zones).description());
			}
		}
	}

	/**
	 * Return the earliest planned time for which there is no answer yet, by the server's
	 * clock.
	 */
	@Nullable Instant openSince() {
		return this.open.since();
	}

	/**
	 * Record that a planned time was run, is being run, or is skipped.
	 */
	void answered(Schedule schedule) {
		this.open.answered((schedule instanceof Schedule.Planned planned) ? planned.at() : now());
	}

	/**
	 * Call the method in a thread of the scheduler, for no planned time.
	 * @param patience how long to wait for the answer
	 */
	ManualRun runNow(Duration patience) {
		CompletableFuture<ManualRun> result = new CompletableFuture<>();
		AtomicBoolean begun = new AtomicBoolean();
		ScheduledCall call = new ScheduledCall(this, result::complete);
		ScheduledFuture<?> firing;
		try {
			firing = this.scheduler.schedule(firing(() -> {
				if (begun.compareAndSet(false, true)) {
					runNow(call, result);
				}
			}), this.scheduler.getClock().instant());
		}
		catch (TaskRejectedException ex) {
			return new ManualRun(Outcome.REFUSED,
					"Its scheduler accepts no more tasks, because the application is closing");
		}
		try {
			return result.get(patience.toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (TimeoutException ex) {
			if (!begun.compareAndSet(false, true)) {
				return new ManualRun(Outcome.WAITING, "It is waiting for its lock, and runs if it acquires it");
			}
			firing.cancel(false);
			return new ManualRun(Outcome.REFUSED,
					"No thread of its scheduler was free within " + Durations.readable(patience));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return new ManualRun(Outcome.WAITING,
					"The call did not wait for it, because the calling thread was interrupted");
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private void runNow(ScheduledCall call, CompletableFuture<ManualRun> result) {
		try {
			call.run(this.task);
		}
		catch (Throwable ex) {
			result.complete(new ManualRun(Outcome.FAILED, "The request for its lock failed: " + ex));
			throw ex;
		}
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
	 * A task that appears to the scheduler as the task that it represents.
	 *
	 * @param task the task
	 * @param action the action that runs instead
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
