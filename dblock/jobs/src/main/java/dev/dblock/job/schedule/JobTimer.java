package dev.dblock.job.schedule;

import java.time.Clock;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;

import dev.dblock.job.schedule.NextFiring.At;
import dev.dblock.job.schedule.NextFiring.Retry;
import dev.dblock.job.schedule.NextFiring.Timed;
import dev.dblock.job.trigger.StoreClock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.core.task.TaskRejectedException;
import org.springframework.scheduling.TaskScheduler;

/**
 * The firing of a schedule in addition to those that its trigger plans, and the timer for
 * it. There is one of each.
 */
final class JobTimer {

	private static final Logger logger = LoggerFactory.getLogger(JobTask.class);

	private final Runnable task;

	private final TaskScheduler scheduler;

	private final StoreClock clock;

	private @Nullable Timed next;

	private @Nullable ScheduledFuture<?> timer;

	/** The timers that no firing replaces. */
	private final List<ScheduledFuture<?>> beside = new ArrayList<>();

	private volatile boolean closed;

	JobTimer(Runnable task, TaskScheduler scheduler, StoreClock clock) {
		this.task = task;
		this.scheduler = scheduler;
		this.clock = clock;
	}

	/**
	 * Replace the firing.
	 * @param plan the schedule, which fires periods itself unless it has already gone on
	 * @param fire fires what has not been replaced or taken by then
	 */
	synchronized void replace(Timed next, JobPlan plan, Consumer<Timed> fire) {
		boolean planned = plan.firesAt(next.at());
		cancel();
		this.next = next;
		if (!planned) {
			start(next.at(), () -> elapsed(next, plan, fire));
		}
	}

	private void elapsed(Timed elapsed, JobPlan plan, Consumer<Timed> fire) {
		synchronized (this) {
			if (this.closed || this.next != elapsed) {
				return;
			}
			if (!plan.isDue()) {
				// The clock was corrected since the start of the timer
				start(elapsed.at(), () -> elapsed(elapsed, plan, fire));
				return;
			}
			this.next = null;
		}
		fire.accept(elapsed);
	}

	/**
	 * Fire by a timer if the trigger of the period, which has just fired too early, does
	 * not do so soon after the firing is due. A moment later, it can take the early one
	 * for the one that is due, and plan the next period.
	 */
	synchronized void firedEarly(JobPlan plan, Consumer<Timed> fire) {
		Timed next = this.next;
		if (next != null) {
			cancelTimer();
			start(next.at().plus(NextFiring.SOON), () -> elapsed(next, plan, fire));
		}
	}

	/**
	 * Cancel the firing, unless it is a retry, since the trigger of the period fires.
	 */
	synchronized void firedInTime() {
		if (this.next instanceof At) {
			cancel();
		}
	}

	/**
	 * Cancel the firing if it is a retry for which a condition is true.
	 * @return the retry; {@code null} if there is none
	 */
	synchronized @Nullable Retry takeRetry(Predicate<JobRequest> condition) {
		if (this.next instanceof Retry retry && condition.test(retry.answer().request())) {
			cancel();
			return retry;
		}
		return null;
	}

	/**
	 * Start the timer.
	 * @param at when it elapses, by the server's clock
	 */
	synchronized void start(Instant at, Runnable action) {
		ScheduledFuture<?> timer = schedule(at, action);
		if (timer != null) {
			this.timer = timer;
		}
	}

	/**
	 * Start another timer, which no firing replaces.
	 * @param at when it elapses, by the server's clock
	 */
	synchronized void startBeside(Instant at, Runnable action) {
		ScheduledFuture<?> timer = schedule(at, action);
		this.beside.removeIf(Future::isDone);
		if (timer != null) {
			this.beside.add(timer);
		}
	}

	private synchronized @Nullable ScheduledFuture<?> schedule(Instant at, Runnable action) {
		if (!this.closed) {
			try {
				return this.scheduler.schedule(new StandInTask(this.task, action), this.clock.toOwn(at, own()));
			}
			catch (TaskRejectedException ex) {
				logger.debug("The scheduler does not accept the firing of {} at {}", this.task, at, ex);
			}
		}
		return null;
	}

	private Clock own() {
		return this.scheduler.getClock();
	}

	private void cancel() {
		cancelTimer();
		this.next = null;
	}

	private void cancelTimer() {
		if (this.timer != null) {
			this.timer.cancel(false);
			this.timer = null;
		}
	}

	synchronized void close() {
		this.closed = true;
		cancel();
		// A scheduler that waits for its tasks would wait for these
		this.beside.forEach((timer) -> timer.cancel(false));
	}

	boolean isClosed() {
		return this.closed;
	}

}
