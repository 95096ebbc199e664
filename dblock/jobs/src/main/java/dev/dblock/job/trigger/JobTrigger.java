package dev.dblock.job.trigger;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;

import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.scheduling.Trigger;
import org.springframework.scheduling.TriggerContext;
import org.springframework.scheduling.support.CronTrigger;
import org.springframework.scheduling.support.SimpleTriggerContext;

/**
 * Makes a job's trigger plan in the server's time, so that all instances plan the same
 * instants, and keeps each planned time until a firing takes it. If each firing has a
 * thread of its own, several planned times can be pending.
 */
public final class JobTrigger implements PlannedTrigger {

	private static final Logger logger = LoggerFactory.getLogger(JobTrigger.class);

	private static final int MOST_PENDING = 64;

	/**
	 * The limit for planned times in the past; a time before it was planned by another
	 * clock.
	 */
	private static final Duration BEHIND = Duration.ofSeconds(10);

	/** The shortest time between two firings if the second is planned for the past. */
	private static final Duration FLOOR = Duration.ofMillis(100);

	/** How much too early a timer may fire. */
	private static final Duration EARLY = Duration.ofMillis(2);

	/**
	 * The limit for planned times in the future. A time beyond it was fired by a wrong
	 * clock, and is planned again. If it was run nevertheless, the server refuses it.
	 */
	public static final Duration AHEAD = Duration.ofMillis(100);

	/** The time between two firings if the second repeats the first. */
	private static final Duration REPEATED = Duration.ofSeconds(5);

	private static final Duration SHORTEST_STEP_BACK = Duration.ofSeconds(1);

	/** How much later a cron expression is asked that plans no later time. */
	private static final Duration STEP = Duration.ofMinutes(1);

	/** Longer than any clocks of the world go back. */
	private static final int MOST_STEPS = 180;

	/**
	 * Until then, further planned times are computed. The last of them can take twice as
	 * long.
	 */
	private static final long BUDGET = PlannedTimes.LONGEST.toNanos() / 4;

	private final Trigger trigger;

	private final StoreClock clock;

	private final Deque<Pending> pending = new ArrayDeque<>();

	/**
	 * What a trigger without a cron expression has planned, since it may count its calls.
	 */
	private final Deque<Instant> remembered = new ArrayDeque<>();

	private @Nullable Instant last;

	/** The last planned time, if the server refused it as not due. */
	private @Nullable Instant notDue;

	/** Whether the trigger plans nothing after the last planned time. */
	private boolean ended;

	private long lastElapses;

	/** Whether the trigger has planned the last planned time once more. */
	private boolean repeated;

	private boolean warned;

	public JobTrigger(Trigger trigger, StoreClock clock) {
		this.trigger = trigger;
		this.clock = clock;
	}

	@Override
	public synchronized @Nullable Instant nextExecution(TriggerContext context) {
		Clock own = context.getClock();
		Instant notDue = this.notDue;
		this.notDue = null;
		this.repeated = false;
		Instant asked = this.clock.now(own);
		Instant overlapped = (notDue == null && this.last != null) ? latest(this.last, own) : null;
		// The answer can arrive so late that the time is already due
		Instant planned = (notDue != null && !notDue.isAfter(this.clock.now(own).plus(AHEAD))) ? notDue
				: (overlapped != null) ? overlapped : later(context, notDue != null);
		this.ended = planned == null;
		if (planned == null) {
			return null;
		}
		Duration delay = Duration.between(this.clock.now(own), planned);
		// By the time that the trigger could know, before an answer corrected the clock
		Duration behind = Duration.between(planned, asked);
		if (overlapped == null && behind.compareTo(BEHIND) > 0) {
			warn(planned, behind);
		}
		long now = this.clock.nanoTime();
		if (this.last != null && (delay.isNegative() || this.repeated)) {
			Duration pause = this.repeated ? REPEATED : FLOOR;
			delay = Duration.ofNanos(Math.max(0, this.lastElapses + pause.toNanos() - now));
		}
		this.lastElapses = now + Math.max(0, delay.toNanos());
		this.pending.add(new Pending(planned, this.lastElapses));
		if (this.pending.size() > MOST_PENDING) {
			this.pending.remove();
		}
		this.last = planned;
		if (!(this.trigger instanceof CronTrigger)) {
			this.remembered.add(planned.truncatedTo(ChronoUnit.MILLIS));
			if (this.remembered.size() > MOST_PENDING) {
				this.remembered.remove();
			}
		}
		return own.instant().plus(delay);
	}

	/**
	 * Return the time that the trigger plans after the last one. A trigger that repeats
	 * it, for example because it reads the time from a database, goes on.
	 */
	private @Nullable Instant later(TriggerContext context, boolean notDue) {
		ServerContext asked = new ServerContext(context, notDue);
		Instant planned = this.trigger.nextExecution(asked);
		Instant last = asked.lastScheduledExecution();
		if (planned == null || last == null || planned.isAfter(last)) {
			return planned;
		}
		Instant next = after(last, context.getClock());
		this.repeated = next == null;
		if (this.repeated && !this.warned) {
			this.warned = true;
			logger.warn(
					"The trigger {} plans {} after {}. The trigger of a job must plan a later time each time. Until it"
							+ " does, the time is requested every {}, and refused if an instance has run it",
					this.trigger, planned, last, Durations.readable(REPEATED));
		}
		return (next != null) ? next : planned;
	}

	private void warn(Instant planned, Duration behind) {
		if (!this.warned) {
			this.warned = true;
			logger.warn(
					"The trigger {} plans {}, {} before the current time of the MongoDB server. The trigger of a job"
							+ " must plan by TriggerContext.getClock(), which returns the server's time",
					this.trigger, planned, behind);
		}
	}

	/**
	 * Take the planned time of a firing that begins: the latest that is due, since an
	 * earlier one may have been rejected by the scheduler.
	 */
	public synchronized Instant take() {
		long now = this.clock.nanoTime() + EARLY.toNanos();
		for (Iterator<Pending> latest = this.pending.descendingIterator(); latest.hasNext();) {
			Pending candidate = latest.next();
			if (candidate.elapses() - now <= 0 || !latest.hasNext()) {
				latest.remove();
				return candidate.planned();
			}
		}
		if (this.last == null) {
			throw new IllegalStateException("The scheduler did not ask the trigger %s first".formatted(this.trigger));
		}
		return this.last;
	}

	/**
	 * Return the planned time for which a firing is to request the lock: the one that it
	 * has taken, or the latest that is due, since the firing can be late, or can have
	 * been planned by a clock that is behind that of the server.
	 * @param taken the planned time that was taken
	 * @param own the scheduler's clock
	 */
	public synchronized Instant due(Instant taken, Clock own) {
		Instant latest = latest(taken, own);
		if (latest == null || isPending(latest)) {
			return taken;
		}
		if (this.last == null || latest.isAfter(this.last)) {
			this.last = latest;
		}
		return latest;
	}

	/**
	 * Return the latest planned time that is due, if it is later than another one. This
	 * is unknown for a trigger without a cron expression.
	 */
	private @Nullable Instant latest(Instant than, Clock own) {
		Instant now = this.clock.now(own);
		return (this.trigger instanceof CronTrigger) ? latest(than, now, own) : null;
	}

	/**
	 * Return the latest planned time up to a moment, if it is later than another one.
	 */
	public synchronized @Nullable Instant latest(Instant than, Instant until, Clock own) {
		Instant next = after(than, own);
		if (next == null || next.isAfter(until)) {
			return null;
		}
		// Not one after the other, since there can be very many
		for (Duration back = SHORTEST_STEP_BACK; until.minus(back).isAfter(than); back = back.multipliedBy(2)) {
			Instant later = after(until.minus(back), own);
			if (later != null && !later.isAfter(until)) {
				next = later;
				break;
			}
		}
		Instant end = until;
		for (Instant later = after(next, own); later != null && !later.isAfter(until); later = after(next, own)) {
			next = later;
			Instant half = next.plus(Duration.between(next, end).dividedBy(2));
			Instant afterHalf = after(half, own);
			if (afterHalf != null && !afterHalf.isAfter(until)) {
				next = afterHalf;
			}
			else {
				end = half;
			}
		}
		return next;
	}

	/**
	 * Return the planned times between two others: the latest thousand at most, and fewer
	 * if more than a few cannot be computed in time.
	 */
	public synchronized PlannedTimes between(Instant after, Instant before, Clock own) {
		if (!(this.trigger instanceof CronTrigger)) {
			return new PlannedTimes(
					this.remembered.stream().filter((each) -> each.isAfter(after) && each.isBefore(before)).toList(),
					false);
		}
		Instant first = after(after, own);
		if (first == null || !first.isBefore(before)) {
			return PlannedTimes.NONE;
		}
		long begun = this.clock.nanoTime();
		Deque<Instant> times = new ArrayDeque<>();
		Instant end = before;
		// From the last to the first, since an expression can have pauses, as at night
		while (end != null && times.size() < PlannedTimes.MOST
				&& (times.size() < PlannedTimes.FEW || this.clock.nanoTime() - begun < BUDGET)) {
			Instant last = latest(after, end.minusMillis(1), own);
			if (last != null) {
				List<Instant> latest = upTo(last, after, PlannedTimes.MOST - times.size(), own);
				for (int i = latest.size() - 1; i >= 0 && times.size() < PlannedTimes.MOST; i--) {
					times.addFirst(latest.get(i));
				}
			}
			end = (last != null) ? times.getFirst() : null;
		}
		return new PlannedTimes(List.copyOf(times), first.isBefore(times.getFirst()));
	}

	/**
	 * Return planned times up to one of them, without a pause between them.
	 * @param after the times are after this instant
	 * @param most about how many are wanted
	 */
	private List<Instant> upTo(Instant last, Instant after, int most, Clock own) {
		Instant previous = latest(after, last.minusMillis(1), own);
		if (previous == null) {
			return List.of(last);
		}
		Duration step = Duration.between(previous, last);
		Instant before = latest(after, previous.minusMillis(1), own);
		if (before != null && Duration.between(before, previous).compareTo(step) < 0) {
			// The last one is the first after a pause
			step = Duration.between(before, previous);
		}
		Instant start = last.minus(step.multipliedBy(most)).minusMillis(1);
		Instant few = last.minus(step.multipliedBy(PlannedTimes.FEW));
		long budget = BUDGET;
		long begun = this.clock.nanoTime();
		List<Instant> times = new ArrayList<>();
		Instant next = after(start.isAfter(after) ? start : after, own);
		while (next != null && !next.isAfter(last)) {
			times.add(next);
			Instant from = next;
			Instant half = next.plus(Duration.between(next, last).dividedBy(2));
			if (half.isBefore(few) && this.clock.nanoTime() - begun > budget) {
				// Halfway to the end, with half of the time
				times.clear();
				from = half;
				budget /= 2;
				begun = this.clock.nanoTime();
			}
			next = after(from, own);
		}
		return times;
	}

	/**
	 * Plan again after a firing that the server refused as not due. The trigger has
	 * already planned the next time if each firing has a thread of its own, or if the
	 * answer arrives after the method has returned.
	 * @param refused the planned time of that firing
	 * @param own the scheduler's clock
	 * @return the time to fire in addition to the planned times; {@code null} if there is
	 * none
	 */
	public synchronized @Nullable Instant replan(Instant refused, Clock own) {
		Instant last = this.last;
		if (last != null && last.truncatedTo(ChronoUnit.MILLIS).equals(refused) && !isPending(last)) {
			if (this.ended) {
				return refused;
			}
			this.notDue = last;
			return null;
		}
		Instant next = (this.trigger instanceof CronTrigger) ? after(this.clock.now(own), own) : null;
		Instant planned = (next != null && next.isBefore(refused)) ? next : refused;
		return isPending(planned) ? null : planned;
	}

	/**
	 * Return the last planned time, if it has not fired yet.
	 */
	public synchronized @Nullable Instant unfired() {
		return (this.last != null && isPending(this.last)) ? this.last : null;
	}

	private boolean isPending(Instant planned) {
		Instant recorded = planned.truncatedTo(ChronoUnit.MILLIS);
		return this.pending.stream().anyMatch((each) -> each.planned().truncatedTo(ChronoUnit.MILLIS).equals(recorded));
	}

	/**
	 * Return the time that the trigger plans after an instant, truncated to milliseconds
	 * as in the record.
	 * @return the time; {@code null} if there is none, or if the trigger plans no later
	 * time than the instant
	 */
	private @Nullable Instant after(Instant instant, Clock own) {
		if (this.trigger instanceof CronTrigger) {
			return laterThan(instant, (asked) -> plannedAfter(asked, own));
		}
		Instant next = plannedAfter(instant, own);
		return (next != null && next.isAfter(instant)) ? next : null;
	}

	private @Nullable Instant plannedAfter(Instant instant, Clock own) {
		SimpleTriggerContext context = new SimpleTriggerContext(Clock.fixed(instant, own.getZone()));
		context.update(instant, instant, instant);
		Instant next = this.trigger.nextExecution(context);
		return (next != null) ? next.truncatedTo(ChronoUnit.MILLIS) : null;
	}

	/**
	 * Return the time that a cron expression plans after an instant. In a few time zones,
	 * it plans an earlier one before the clocks go back, and is asked for later moments
	 * then.
	 * @param instant the instant
	 * @param cron returns what is planned after a moment
	 * @return the time; {@code null} if there is none
	 */
	public static @Nullable Instant laterThan(Instant instant, Function<Instant, @Nullable Instant> cron) {
		Instant next = cron.apply(instant);
		for (int step = 1; next != null && !next.isAfter(instant) && step <= MOST_STEPS; step++) {
			next = cron.apply(instant.plus(STEP.multipliedBy(step)));
		}
		return (next != null && next.isAfter(instant)) ? next : null;
	}

	@Override
	public synchronized @Nullable Instant next(Clock own) {
		Instant now = this.clock.now(own);
		Instant last = this.last;
		if (last != null && (last.isAfter(now) || isPending(last))) {
			return last;
		}
		return (this.trigger instanceof CronTrigger) ? after(now, own) : null;
	}

	@Override
	public synchronized @Nullable Instant planned() {
		return this.last;
	}

	public @Nullable CronTrigger cron() {
		return (this.trigger instanceof CronTrigger cron) ? cron : null;
	}

	/**
	 * Whether this trigger also plans a time that another instance planned. This is
	 * unknown for a trigger without a cron expression, in which case the result is
	 * {@code true}.
	 */
	public boolean isPlanned(Instant planned, Clock own) {
		return !(this.trigger instanceof CronTrigger) || plans(planned, own);
	}

	/**
	 * Whether the trigger plans an instant. For a trigger without a cron expression, this
	 * depends on what it plans for the moment before.
	 */
	public boolean plans(Instant instant, Clock own) {
		return instant.equals(after(instant.minusMillis(1), own));
	}

	@Override
	public String toString() {
		return this.trigger.toString();
	}

	/**
	 * A planned time that was not yet taken by a firing.
	 *
	 * @param planned the planned time
	 * @param elapses the {@code nanoTime} of its firing, which does not depend on any
	 * adjustable clock
	 */
	private record Pending(Instant planned, long elapses) {
	}

	/**
	 * The context of the trigger, in the server's time.
	 */
	private final class ServerContext implements TriggerContext {

		private final TriggerContext own;

		private final boolean anew;

		ServerContext(TriggerContext own, boolean notDue) {
			this.own = own;
			Instant last = JobTrigger.this.last;
			this.anew = notDue || last == null || last.isAfter(JobTrigger.this.clock.now(own.getClock()).plus(AHEAD));
		}

		@Override
		public Clock getClock() {
			return new ServerClock(this.own.getClock());
		}

		@Override
		public @Nullable Instant lastScheduledExecution() {
			return this.anew ? null : JobTrigger.this.last;
		}

		@Override
		public @Nullable Instant lastActualExecution() {
			return inServerTime(this.own.lastActualExecution());
		}

		@Override
		public @Nullable Instant lastCompletion() {
			return inServerTime(this.own.lastCompletion());
		}

		private @Nullable Instant inServerTime(@Nullable Instant instant) {
			return (this.anew || instant == null) ? null : JobTrigger.this.clock.toServer(instant, this.own.getClock());
		}

	}

	/**
	 * The clock of the server in the scheduler's time zone.
	 */
	private final class ServerClock extends Clock {

		private final Clock own;

		ServerClock(Clock own) {
			this.own = own;
		}

		@Override
		public ZoneId getZone() {
			return this.own.getZone();
		}

		@Override
		public Clock withZone(ZoneId zone) {
			return Clock.fixed(instant(), zone);
		}

		@Override
		public Instant instant() {
			return JobTrigger.this.clock.now(this.own);
		}

	}

}
