package dev.dblock.job.schedule;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;

import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.JobMethod.Declaration;
import org.jspecify.annotations.Nullable;

/**
 * What a schedule of a job does after an answer, in addition to the firings that its
 * trigger plans. {@link #after} has the rules. A planned time that this instance no
 * longer requests is settled by the record: with the next one that is granted or missed.
 */
sealed interface NextFiring {

	/** Nothing: the trigger fires at the next planned time. */
	NextFiring NONE = new None();

	/**
	 * The pause before another request for a time that is due by this clock, but not by
	 * the server's.
	 */
	Duration SOON = Duration.ofMillis(100);

	/** The pause before the first retry. Each further pause is twice as long. */
	Duration SHORTEST_PAUSE = Duration.ofMillis(250);

	Duration LONGEST_PAUSE = Duration.ofSeconds(5);

	/**
	 * Decide what to do after an answer.
	 * @param answer the answer
	 * @param latest the latest planned time of the job that was fired and is due, if any
	 * @param now the time of the server's clock
	 * @param pause the pause before a retry at most, which differs between instances
	 */
	static NextFiring after(Answer answer, @Nullable Instant latest, Instant now, Duration pause) {
		Schedule schedule = answer.request().schedule();
		if (schedule == null) {
			return NONE;
		}
		if (answer.request().isOvertakenBy(latest)) {
			return NONE;
		}
		LockRefusal refusal = answer.refusal();
		// The lease of the holder could have ended by then
		Duration retryIn = (refusal != null && refusal.holder() != null) ? shorter(pause, refusal.holder().remaining())
				: pause;
		if (schedule instanceof Schedule.Planned planned) {
			return afterInstant(answer, planned, latest, now, retryIn);
		}
		return (schedule instanceof Schedule.FixedRate rate) ? afterPeriod(answer, rate, rate.period(), now, retryIn)
				: afterPeriod(answer, schedule, ((Schedule.FixedDelay) schedule).delay(), now, retryIn);
	}

	private static NextFiring afterInstant(Answer answer, Schedule.Planned planned, @Nullable Instant latest,
			Instant now, Duration retryIn) {
		JobRequest request = answer.request();
		JobRun run = answer.run();
		if (run != null) {
			// After the repetition of a crashed run, this planned time is still to come
			return run.plannedAt().isBefore(planned.at())
					? new At(planned.at(), JobRequest.first(planned).shards(request.shards())) : NONE;
		}
		JobRefusal verdict = answer.verdict();
		if (verdict != null && verdict.reason() == Reason.NOT_DUE) {
			return request.look() ? notDue(planned.at(), answer.retry(), now) : new NotDue(planned.at());
		}
		Instant leaseEnd = leaseEnd(answer, now);
		JobRun inProgress = answer.lastRun();
		NextFiring look = (leaseEnd != null && inProgress != null)
				? new At(leaseEnd, JobRequest.look(inProgress, latest)) : NONE;
		if (verdict != null && verdict.reason() == Reason.TOO_LATE) {
			return new Missed(answer);
		}
		return answer.isOpen() ? new Retry(retryAt(answer, planned, now, retryIn), answer) : look;
	}

	/**
	 * Return when to retry. If the planned time has become too late by then, the server
	 * refuses it as such.
	 */
	private static Instant retryAt(Answer answer, Schedule.Planned planned, Instant now, Duration retryIn) {
		Declaration declaration = answer.declaration();
		Instant at = now.plus(retryIn);
		if (answer.request().look() || declaration == null || answer.request().shards() > 0) {
			return at;
		}
		Instant tooLate = planned.at().plus(declaration.startWithin()).plusMillis(1);
		return (now.isBefore(tooLate) && tooLate.isBefore(at)) ? tooLate : at;
	}

	private static NextFiring afterPeriod(Answer answer, Schedule schedule, Duration period, Instant now,
			Duration retryIn) {
		JobRun run = answer.run();
		if (run != null) {
			Instant next = (schedule instanceof Schedule.FixedRate) ? run.plannedAt().plus(period) : now.plus(period);
			return new At(next.isAfter(now) ? next : now, JobRequest.first(schedule));
		}
		if (answer.isOpen()) {
			return new Retry(now.plus(shorter(retryIn, period)), answer);
		}
		JobRefusal verdict = answer.verdict();
		if (verdict == null) {
			return NONE;
		}
		Instant next = verdict.nextDue();
		if (next != null && verdict.reason() == Reason.NOT_DUE) {
			// Not at once, since the trigger takes the time that it has just fired at for
			// done
			return notDue(next, JobRequest.first(schedule), now);
		}
		if (next != null && !next.isAfter(now)) {
			// A time that is already due while the job runs is left to the next period
			next = null;
		}
		Instant leaseEnd = leaseEnd(answer, now);
		if (leaseEnd != null && (next == null || leaseEnd.isBefore(next))) {
			next = leaseEnd;
		}
		return (next != null) ? new At(next, JobRequest.first(schedule)) : NONE;
	}

	/**
	 * Return when the lease of a run that is in progress could have ended; {@code null}
	 * if a crashed run is not repeated.
	 */
	private static @Nullable Instant leaseEnd(Answer answer, Instant now) {
		LockRefusal refusal = answer.refusal();
		JobRefusal verdict = answer.verdict();
		if (refusal == null || refusal.holder() == null || verdict == null || !answer.isRerun()) {
			return null;
		}
		return switch (verdict.reason()) {
			case RUNNING, OVERLAPPED ->
				refusal.holder().remaining().isZero() ? null : now.plus(refusal.holder().remaining());
			case DONE, OTHER_ID, NOT_DUE, TOO_LATE, PAUSED -> null;
		};
	}

	private static Duration shorter(Duration pause, Duration other) {
		Duration shortest = (other.compareTo(SOON) < 0) ? SOON : other;
		return (shortest.compareTo(pause) < 0) ? shortest : pause;
	}

	/**
	 * Return the firing of a planned time that is due by this clock, when it is due by
	 * the server's.
	 */
	static At notDue(Instant planned, JobRequest request, Instant now) {
		Instant soon = now.plus(SOON);
		return new At(planned.isAfter(soon) ? planned : soon, request);
	}

	/**
	 * Return a random pause before a retry.
	 * @param earlier the number of retries before
	 */
	static Duration pause(int earlier) {
		long longest = Math.min(LONGEST_PAUSE.toMillis(), SHORTEST_PAUSE.toMillis() << Math.min(earlier, 10));
		return Duration.ofMillis(ThreadLocalRandom.current().nextLong(longest / 2, longest + 1));
	}

	/**
	 * Nothing to do.
	 */
	record None() implements NextFiring {
	}

	/**
	 * A request at an instant by the server's clock.
	 */
	sealed interface Timed extends NextFiring {

		Instant at();

		JobRequest request();

	}

	/**
	 * A request for the planned time of another run, or for one that is not due yet.
	 */
	record At(Instant at, JobRequest request) implements Timed {
	}

	/**
	 * A further request for a planned time that is still open. The next planned time
	 * overtakes it, and the next firing of a period makes it earlier.
	 *
	 * @param answer the answer that left the planned time open
	 */
	record Retry(Instant at, Answer answer) implements Timed {

		@Override
		public JobRequest request() {
			return this.answer.retry();
		}

	}

	/**
	 * The planned time is due only by the clock of this instance. The trigger plans it
	 * again.
	 */
	record NotDue(Instant planned) implements NextFiring {
	}

	/**
	 * The planned time can no longer start, and is to be recorded as missed unless
	 * another instance does that first.
	 *
	 * @param answer the answer of the server that it is too late
	 */
	record Missed(Answer answer) implements NextFiring {
	}

}
