package dev.dblock.job.trigger;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;

import dev.dblock.job.JobFiring.Schedule;
import org.jspecify.annotations.Nullable;

import org.springframework.scheduling.TriggerContext;

/**
 * Plans the firings of a fixed rate or a fixed delay in the server's time: at the time
 * from the last answer, or else a period after the last one.
 */
public final class PeriodicJobTrigger implements PlannedTrigger {

	/** How much too early a timer may fire. */
	private static final Duration EARLY = Duration.ofMillis(2);

	private final Schedule schedule;

	private final Instant start;

	private final StoreClock clock;

	private @Nullable Instant last;

	private @Nullable Instant nextDue;

	/**
	 * Create the trigger.
	 * @param start when it fires first, by the scheduler's clock
	 */
	public PeriodicJobTrigger(Schedule schedule, Instant start, StoreClock clock) {
		this.schedule = schedule;
		this.start = start;
		this.clock = clock;
	}

	@Override
	public synchronized Instant nextExecution(TriggerContext context) {
		Clock own = context.getClock();
		Instant now = this.clock.now(own);
		Instant next;
		if (this.last == null) {
			next = now.plus(Duration.between(own.instant(), this.start));
		}
		else {
			// The last firing is over, so a time beyond that was planned by a wrong clock
			next = next(this.last.isAfter(now.plus(EARLY)) ? now : this.last, now);
		}
		this.last = next;
		return this.clock.toOwn(next, own);
	}

	private Instant next(Instant last, Instant now) {
		if (this.nextDue != null && this.nextDue.isAfter(last)) {
			return this.nextDue;
		}
		if (this.schedule instanceof Schedule.FixedRate rate) {
			Instant known = (this.nextDue != null) ? this.nextDue : last;
			Instant after = last.isAfter(now) ? last : now;
			long periods = Duration.between(known, after).dividedBy(rate.period()) + 1;
			return known.plus(rate.period().multipliedBy(periods));
		}
		return now.plus(((Schedule.FixedDelay) this.schedule).delay());
	}

	/**
	 * Fire when the job is due next.
	 * @param nextDue when, by the server's clock
	 * @param own the scheduler's clock
	 * @return whether this trigger does; {@code false} if its next firing is already
	 * planned for a later time. This happens if each firing has a thread of its own, or
	 * if the answer arrives after the method has returned
	 */
	public synchronized boolean firesAt(Instant nextDue, Clock own) {
		this.nextDue = nextDue;
		return this.last == null || !this.last.isAfter(this.clock.now(own).plus(EARLY)) || !nextDue.isBefore(this.last);
	}

	/**
	 * Whether the job is due, as far as known.
	 * @param own the scheduler's clock
	 */
	public synchronized boolean isDue(Clock own) {
		return this.nextDue == null || !this.nextDue.isAfter(this.clock.now(own).plus(EARLY));
	}

	@Override
	public synchronized @Nullable Instant next(Clock own) {
		Instant now = this.clock.now(own);
		if (this.nextDue != null && this.nextDue.isAfter(now)) {
			return this.nextDue;
		}
		if (this.last == null || this.last.isAfter(now)) {
			return this.last;
		}
		return (this.schedule instanceof Schedule.FixedRate) ? next(this.last, now) : null;
	}

	@Override
	public synchronized @Nullable Instant planned() {
		return this.last;
	}

	@Override
	public String toString() {
		return this.schedule.toString();
	}

}
