package dev.dblock.store;

import java.time.Instant;

import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRefusal.Reason;
import dev.dblock.job.JobRun;
import dev.dblock.store.StoredJob.StoredRun;
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
 * @param due whether the firing is due
 * @param granted whether it is due and the lock is free
 * @param refusal why it is not granted; {@code null} if it is, and if the lock is held by
 * something other than a run of the job
 */
public record JobDecision(long planned, int attempt, JobRun.@Nullable Outcome again, @Nullable StoredRun moved,
		boolean afterCrash, boolean due, boolean granted, @Nullable JobRefusal refusal) {

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
	 * @param now milliseconds of the store's clock
	 * @return the decision
	 */
	public static JobDecision of(AcquireRequest request, StoredJob job, LockState lock, long now) {
		JobFiring firing = request.requireFiring();
		StoredRun last = job.last();
		boolean running = last != null && lock.isHeldBy(last);
		boolean usable = last != null && last.planned() <= now + LATEST_STORED;
		StoredRun before = usable ? last : null;
		long due = due(firing.schedule(), before, running, now);
		if (job.paused()) {
			return refused(Reason.PAUSED, request, job, lock, nextDue(firing.schedule(), due), now);
		}
		if (firing.schedule() instanceof Schedule.Planned && due > now + EARLIEST) {
			return refused(Reason.NOT_DUE, request, job, lock, due, now);
		}
		if (before != null) {
			boolean same = isSame(before, firing);
			boolean repeats = firing.rerun() && lock.isRepeatable(before);
			if (same || repeats || isReopened(before, firing.schedule())) {
				int attempt = before.attempt() + ((repeats && !same && !before.isOpen()) ? 1 : 0);
				return due(before.planned(), attempt, request, job, lock, null, now);
			}
			boolean later = (firing.schedule() instanceof Schedule.Planned) ? due > before.planned() : due <= now;
			if (!later) {
				Reason notLater = (firing.schedule() instanceof Schedule.Planned) ? Reason.DONE : Reason.NOT_DUE;
				return refused(running ? Reason.RUNNING : notLater, request, job, lock, nextDue(firing.schedule(), due),
						now);
			}
		}
		return due(planned(firing.schedule(), due, now), 1, request, job, lock,
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
	 * from before that success.
	 */
	private static boolean isSame(StoredRun last, JobFiring firing) {
		return last.firing().equals(firing.id()) && last.outcome() != JobRun.Outcome.SUCCEEDED;
	}

	/**
	 * Whether an attempt that never began left its planned time open. It does not if the
	 * same firing had begun before.
	 */
	private static boolean isReopened(StoredRun last, Schedule schedule) {
		return last.isOpen()
				&& (!(schedule instanceof Schedule.Planned planned) || planned.at().toEpochMilli() == last.planned());
	}

	private static JobDecision due(long planned, int attempt, AcquireRequest request, StoredJob job, LockState lock,
			@Nullable Long nextDue, long now) {
		StoredRun last = job.last();
		boolean same = last != null && isSame(last, request.requireFiring());
		JobRun.Outcome again = (last != null && same) ? lock.endOf(last) : null;
		boolean moves = last != null && !same && !last.isOpen();
		StoredRun moved = null;
		if (last != null && moves) {
			JobRun.Outcome outcome = lock.outcomeOf(last);
			moved = (outcome != null) ? last.withOutcome(outcome) : last;
		}
		JobRefusal refusal = null;
		if (last != null && moves && lock.isHeldBy(last)) {
			refusal = new JobRefusal(Reason.OVERLAPPED, instant(nextDue), last.toRun(request.jobId(), null), null,
					Instant.ofEpochMilli(now));
		}
		boolean afterCrash = (moved != null) ? moved.outcome() == JobRun.Outcome.CRASHED
				: last != null && last.hasUnreportedCrash();
		return new JobDecision(planned, attempt, again, moved, afterCrash, true, !lock.taken(), refusal);
	}

	private static JobDecision refused(Reason reason, AcquireRequest request, StoredJob job, LockState lock,
			@Nullable Long nextDue, long now) {
		StoredRun last = job.last();
		JobRefusal refusal = new JobRefusal(reason, instant(nextDue),
				(last != null) ? last.toRun(request.jobId(), lock.outcomeOf(last)) : null,
				(reason == Reason.PAUSED) ? job.pausedBy() : null, Instant.ofEpochMilli(now));
		return new JobDecision(0, 0, null, null, false, false, false, refusal);
	}

	private static @Nullable Instant instant(@Nullable Long millis) {
		return (millis != null) ? Instant.ofEpochMilli(millis) : null;
	}

	/**
	 * The lock that a record is stored with.
	 *
	 * @param holder the id of the acquisition that has not released it
	 * @param taken whether its lease or its minimum hold has not ended
	 * @param token the token of the last acquisition
	 */
	public record LockState(@Nullable String holder, boolean taken, long token) {

		boolean isHeldBy(StoredRun run) {
			return this.taken && run.outcome() == null && run.holder().equals(this.holder);
		}

		/**
		 * Return how a run ended, if that is known.
		 * @param run the run
		 * @return the outcome; {@code null} while it runs
		 */
		JobRun.@Nullable Outcome outcomeOf(StoredRun run) {
			if (run.outcome() != null || isHeldBy(run)) {
				return run.outcome();
			}
			return isReleased(run) ? JobRun.Outcome.LOST : JobRun.Outcome.CRASHED;
		}

		/**
		 * Whether the lock of a run was released without recording the end of the run,
		 * which the record did not accept.
		 */
		private boolean isReleased(StoredRun run) {
			return this.holder == null && this.token == run.token();
		}

		/**
		 * Return how the last run that began ended. A run that was released without
		 * recording its end counts as failed, since it is known to have ended.
		 * @param run the last one that was granted, without its lock
		 * @return the outcome; {@code null} if none began
		 */
		JobRun.@Nullable Outcome endOf(StoredRun run) {
			if (run.outcome() == null) {
				return isReleased(run) ? JobRun.Outcome.FAILED : JobRun.Outcome.CRASHED;
			}
			return (run.outcome() == JobRun.Outcome.ABANDONED) ? run.again() : run.outcome();
		}

		/**
		 * Whether a run is to be attempted again. This is the case if it crashed or lost
		 * its lock before it ended, or if an attempt to repeat it was abandoned.
		 */
		boolean isRepeatable(StoredRun run) {
			JobRun.Outcome end = isHeldBy(run) ? null : endOf(run);
			boolean crashed = end == JobRun.Outcome.CRASHED || end == JobRun.Outcome.LOST;
			return (crashed && run.attempt() < MOST_ATTEMPTS) || (run.isOpen() && run.attempt() > 1);
		}

	}

}
