package dev.dblock.job.schedule;

import java.time.Instant;

import dev.dblock.LockRefusal;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobFiring.Schedule;
import dev.dblock.job.JobRefusal;
import dev.dblock.job.JobRun;
import dev.dblock.job.schedule.JobMethod.Declaration;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;

/**
 * The answer to a request: a run, a refusal or a failure; none of them for a grant
 * without a run record.
 *
 * @param request the request
 * @param asked what was sent for it; {@code null} for a call without a planned time
 * @param run the run that the lock was granted for
 * @param refusal why the lock was refused
 * @param failure why there is no answer of the store
 */
record Answer(JobRequest request, @Nullable Asked asked, @Nullable JobRun run, @Nullable LockRefusal refusal,
		@Nullable RuntimeException failure) {

	/**
	 * Return what the job's record said about the planned time; {@code null} if it was
	 * not refused for that.
	 */
	@Nullable JobRefusal verdict() {
		return (this.refusal != null) ? JobRefusal.of(this.refusal) : null;
	}

	/**
	 * Return the last run of the job that a refusal shows, if it does.
	 */
	@Nullable JobRun lastRun() {
		JobRefusal verdict = verdict();
		return (verdict != null) ? verdict.last() : null;
	}

	/**
	 * Whether the answer has not closed the planned time, so that this instance has to
	 * retry: the request failed, or the lock is held by something other than a run of
	 * this planned time. A periodic time that is due while the job runs is left to the
	 * next period.
	 */
	boolean isOpen() {
		if (this.failure != null) {
			return true;
		}
		JobRefusal verdict = verdict();
		return this.refusal != null
				&& (verdict == null || (!verdict.isFinal() && this.request.schedule() instanceof Schedule.Planned));
	}

	/**
	 * Whether a planned time is due only by the clock of this instance, so that its
	 * trigger plans it again.
	 */
	boolean isPlannedAgain() {
		JobRefusal verdict = verdict();
		return verdict != null && verdict.reason() == JobRefusal.Reason.NOT_DUE
				&& this.request.schedule() instanceof Schedule.Planned;
	}

	/**
	 * Return the request to make next for a planned time that is still open. A request
	 * without an answer may have been granted, so it is repeated with the same firing.
	 * Any other request is made with a new firing, since this one may still be retried.
	 */
	JobRequest retry() {
		JobFiring inDoubt = (this.asked != null
				&& (this.failure != null || this.request.inDoubt() != null || this.asked.isInDoubt()))
						? this.asked.firing() : null;
		int timeouts = (this.failure == null) ? this.request.timeouts()
				: (this.request.isRepeated() && this.failure instanceof QueryTimeoutException)
						? this.request.timeouts() + 1 : 0;
		return this.request.next(timeouts, inDoubt);
	}

	/**
	 * Return the time of the server's clock that the answer shows, if it does.
	 */
	@Nullable Instant serverTime() {
		JobRefusal verdict = verdict();
		return (this.run != null) ? this.run.startedAt() : (verdict != null) ? verdict.at() : null;
	}

	boolean isRerun() {
		return this.asked != null && this.asked.firing().rerun();
	}

	@Nullable Declaration declaration() {
		return (this.asked != null) ? this.asked.declaration() : null;
	}

	/**
	 * What was sent to the store.
	 *
	 * @param method the method that was called
	 * @param declaration the declaration of the job
	 * @param firing the firing
	 * @param sent the {@code nanoTime} before the request was sent
	 */
	record Asked(JobMethod method, Declaration declaration, JobFiring firing, long sent) {

		/**
		 * Whether a request for the planned time may have been granted, although this
		 * instance did not use the grant.
		 */
		boolean isInDoubt() {
			return this.firing.schedule() instanceof Schedule.Planned planned
					&& this.method.doubtful().contains(planned.at());
		}

	}

}
