package dev.dblock.job;

import java.time.Instant;

import dev.dblock.claim.ClaimRecord.Decision;
import dev.dblock.claim.ClaimRecord.LockState;
import dev.dblock.claim.ClaimRecord.Request;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.StoredJob.StoredRun;
import org.jspecify.annotations.Nullable;

/**
 * The decision whether a firing of a job is granted, based on the record of the job and
 * the state of its lock. MongoDB decides by the same rules within its request; this class
 * then explains the answer.
 *
 * @param planned the planned time that the grant is for, in milliseconds of the store's
 * clock
 * @param attempt the number of the attempt at it
 * @param again how the last run by the same firing ended, if there was one
 * @param moved the last run as it moves into the history, if it does
 * @param afterCrash whether the grant has to report that the run before it crashed
 * @param after the planned time that is settled before the one that is granted
 * @param due whether the firing is due
 * @param granted whether it is due and the lock is free
 * @param refusal why it is not granted; {@code null} if it is, and if the lock is held by
 * something other than a run of the job
 */
public record JobDecision(long planned, int attempt, JobRun.@Nullable Outcome again, @Nullable StoredRun moved,
		boolean afterCrash, @Nullable Long after, boolean due, boolean granted,
		@Nullable JobRefusal refusal) implements Decision {

	/** How far ahead of the store's clock a planned time may be, in milliseconds. */
	public static final long EARLIEST = 250;

	/**
	 * How far ahead of the store's clock a stored planned time may be, in milliseconds.
	 * Beyond that, the clock was set back.
	 */
	public static final long LATEST_STORED = 60_000;

	/** How often a planned time is attempted, crashes included. */
	public static final int MOST_ATTEMPTS = 3;

	/**
	 * Decide about a firing.
	 * @param request the request
	 * @param job the record of the job, without what is malformed
	 * @param lock the lock that the record is stored with
	 * @param elsewhere the last planned time that was settled under another id of the
	 * job's method; {@code null} if there is none
	 * @param now milliseconds of the store's clock
	 * @return the decision
	 */
	public static JobDecision of(Request request, StoredJob job, LockState lock, @Nullable Elsewhere elsewhere,
			long now) {
		JobDecision decision = decide(request, job, lock, elsewhere, now);
		Long after = decision.after();
		return (elsewhere != null && elsewhere.planned() < decision.planned()
				&& (after == null || elsewhere.planned() > after)) ? decision.withAfter(elsewhere.planned()) : decision;
	}

	private JobDecision withAfter(long after) {
		return new JobDecision(this.planned, this.attempt, this.again, this.moved, this.afterCrash, after, this.due,
				this.granted, this.refusal);
	}

	private static JobDecision decide(Request request, StoredJob job, LockState lock, @Nullable Elsewhere elsewhere,
			long now) {
		JobFiring firing = (JobFiring) request.claim();
		StoredRun last = job.last();
		boolean running = last != null && last.isHeld(lock);
		boolean usable = last != null && last.planned() <= now + LATEST_STORED;
		StoredRun before = usable ? last : null;
		long due = due(firing.schedule(), before, running, now);
		if (job.paused()) {
			return refused(Reason.PAUSED, request, job, lock, nextDue(firing.schedule(), due), now);
		}
		if (firing.schedule() instanceof Schedule.Planned && due > now + EARLIEST) {
			return refused(Reason.NOT_DUE, request, job, lock, due, now);
		}
		boolean settledElsewhere = elsewhere != null && elsewhere.planned() >= due;
		Long startUntil = firing.startUntil();
		boolean late = startUntil != null && now > startUntil;
		if (before != null) {
			boolean same = isSame(before, firing, late || settledElsewhere);
			boolean repeats = firing.rerun() && before.isRepeatable(lock)
					&& now <= firing.startUntil(before.crashKnownAt(lock));
			boolean reopened = isReopened(before, firing.schedule());
			if (same || repeats || (!late && reopened && !settledElsewhere)) {
				int attempt = before.attempt() + ((repeats && !same && !before.isOpen()) ? 1 : 0);
				return due(before.planned(), attempt, same, request, job, lock, null, now);
			}
			if (late && before.isUnsettled() && reopened && !settledElsewhere) {
				return late(due, running, elsewhere, request, job, lock, now);
			}
			boolean later = (firing.schedule() instanceof Schedule.Planned) ? due > before.planned() : due <= now;
			// One that is open here, and was run elsewhere, is not done by the last run
			if (!later && !(reopened && settledElsewhere)) {
				Reason notLater = (firing.schedule() instanceof Schedule.Planned) ? Reason.DONE : Reason.NOT_DUE;
				return refused(running ? Reason.RUNNING : notLater, request, job, lock, nextDue(firing.schedule(), due),
						now);
			}
		}
		if (settledElsewhere) {
			return refusedElsewhere(Reason.OTHER_ID, now);
		}
		if (late) {
			return late(due, running, elsewhere, request, job, lock, now);
		}
		boolean same = last != null && isSame(last, firing, false);
		return due(planned(firing.schedule(), due, now), 1, same, request, job, lock,
				(before != null) ? nextDue(firing.schedule(), due) : null, now);
	}

	/**
	 * Return when the firing is due: the planned time itself, or the first one after that
	 * of the last run.
	 */
	private static long due(Schedule schedule, @Nullable StoredRun last, boolean running, long now) {
		if (schedule instanceof Schedule.Planned planned) {
			return planned.at().toEpochMilli();
		}
		if (last == null) {
			return now;
		}
		if (schedule instanceof Schedule.FixedRate rate) {
			return last.planned() + rate.period().toMillis();
		}
		Long ended = last.ended();
		if (ended == null || ended > now + LATEST_STORED) {
			return running ? Long.MAX_VALUE : now;
		}
		return ended + ((Schedule.FixedDelay) schedule).delay().toMillis();
	}

	private static long planned(Schedule schedule, long due, long now) {
		return (schedule instanceof Schedule.FixedRate rate) ? now - (now - due) % rate.period().toMillis() : due;
	}

	private static @Nullable Long nextDue(Schedule schedule, long due) {
		return (schedule instanceof Schedule.Planned || due == Long.MAX_VALUE) ? null : Long.valueOf(due);
	}

	/**
	 * Whether the last run belongs to the same firing, which is then granted it again. A
	 * run that succeeded is not granted again, since the request may be a delayed one
	 * from before that success. If the planned time can no longer be started, only a run
	 * that is known to have begun is.
	 */
	private static boolean isSame(StoredRun last, JobFiring firing, boolean closed) {
		return last.firing().equals(firing.id()) && last.outcome() != JobRun.Outcome.SUCCEEDED
				&& last.outcome() != JobRun.Outcome.MISSED && (!closed || last.hasBegun());
	}

	/**
	 * Whether an attempt that never began left its planned time open. It does not if the
	 * same firing had begun before.
	 */
	private static boolean isReopened(StoredRun last, Schedule schedule) {
		return last.isOpen()
				&& (!(schedule instanceof Schedule.Planned planned) || planned.at().toEpochMilli() == last.planned());
	}

	private static JobDecision due(long planned, int attempt, boolean same, Request request, StoredJob job,
			LockState lock, @Nullable Long nextDue, long now) {
		StoredRun last = job.last();
		JobRun.Outcome again = (last != null && same) ? last.end(lock) : null;
		StoredRun moved = same ? null : moved(last, lock);
		JobRefusal refusal = null;
		if (last != null && moved != null && last.isHeld(lock)) {
			refusal = new JobRefusal(Reason.OVERLAPPED, instant(nextDue), last.toRun(request.id(), null), null,
					Instant.ofEpochMilli(now));
		}
		return new JobDecision(planned, attempt, again, moved, afterCrash(last, moved), after(last, planned, now), true,
				!lock.taken(), refusal);
	}

	/**
	 * Return the last run as it moves into the history; {@code null} if the next one
	 * replaces it, since it never began.
	 */
	private static @Nullable StoredRun moved(@Nullable StoredRun last, LockState lock) {
		if (last == null || last.isOpen()) {
			return null;
		}
		JobRun.Outcome outcome = last.outcome(lock);
		return (outcome != null) ? last.withOutcome(outcome) : last;
	}

	private static boolean afterCrash(@Nullable StoredRun last, @Nullable StoredRun moved) {
		return (moved != null) ? moved.outcome() == JobRun.Outcome.CRASHED : last != null && last.hasUnreportedCrash();
	}

	/**
	 * Return the planned time that is settled before another one. Nothing is known of
	 * what a wrong clock has planned.
	 */
	private static @Nullable Long after(@Nullable StoredRun last, long planned, long now) {
		if (last == null || last.planned() > now + LATEST_STORED || last.planned() > planned) {
			return null;
		}
		return (last.planned() == planned || last.isUnsettled()) ? last.after() : Long.valueOf(last.planned());
	}

	private static JobDecision late(long planned, boolean running, @Nullable Elsewhere elsewhere, Request request,
			StoredJob job, LockState lock, long now) {
		if (elsewhere != null && elsewhere.running()) {
			return refusedElsewhere(Reason.OVERLAPPED, now);
		}
		// The record of a run that is in progress cannot move on
		return running ? refused(Reason.OVERLAPPED, request, job, lock, null, now)
				: tooLate(planned, request, job, lock, now);
	}

	private static JobDecision tooLate(long planned, Request request, StoredJob job, LockState lock, long now) {
		StoredRun last = job.last();
		StoredRun moved = moved(last, lock);
		return new JobDecision(planned, 0, null, moved, afterCrash(last, moved), after(last, planned, now), false,
				false, refused(Reason.TOO_LATE, request, job, lock, null, now).refusal());
	}

	/**
	 * Whether the planned time is neither run nor granted any more, and not recorded as
	 * missed yet.
	 * @return whether it is too late
	 */
	public boolean isTooLate() {
		return this.refusal != null && this.refusal.reason() == Reason.TOO_LATE;
	}

	private static JobDecision refused(Reason reason, Request request, StoredJob job, LockState lock,
			@Nullable Long nextDue, long now) {
		StoredRun last = job.last();
		return refused(new JobRefusal(reason, instant(nextDue),
				(last != null) ? last.toRun(request.id(), last.outcome(lock)) : null,
				(reason == Reason.PAUSED) ? job.pausedBy() : null, Instant.ofEpochMilli(now)));
	}

	private static JobDecision refusedElsewhere(Reason reason, long now) {
		return refused(new JobRefusal(reason, null, null, null, Instant.ofEpochMilli(now)));
	}

	private static JobDecision refused(JobRefusal refusal) {
		return new JobDecision(0, 0, null, null, false, null, false, false, refusal);
	}

	private static @Nullable Instant instant(@Nullable Long millis) {
		return (millis != null) ? Instant.ofEpochMilli(millis) : null;
	}

	/**
	 * What was settled under another id of a job's method, in another version of the
	 * application.
	 *
	 * @param planned the last planned time, in milliseconds of the store's clock
	 * @param running whether its run holds the lock
	 */
	public record Elsewhere(long planned, boolean running) {
	}

}
