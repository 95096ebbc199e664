package dev.dblock.job;

import java.time.Instant;

import dev.dblock.LockRefusal;
import dev.dblock.claim.Claim;
import org.jspecify.annotations.Nullable;

/**
 * The reason why a firing was not granted.
 *
 * @param reason the reason
 * @param nextDue when the next planned time is due, by the clock of the server;
 * {@code null} if the run record does not determine it
 * @param last the last run of the job; {@code null} if there is none
 * @param pausedBy the operator that paused the job, if the reason is
 * {@link Reason#PAUSED}
 * @param at the time of the server's clock at the decision; {@code null} if unknown
 */
public record JobRefusal(Reason reason, @Nullable Instant nextDue, @Nullable JobRun last, @Nullable String pausedBy,
		@Nullable Instant at) implements Claim.Verdict {

	/**
	 * Return why a firing of a job was refused.
	 * @param refusal the refusal of its lock
	 * @return the reason; {@code null} if the lock was not requested for a planned time,
	 * or is held by something other than a run of the job
	 */
	public static @Nullable JobRefusal of(LockRefusal refusal) {
		return (refusal.verdict() instanceof JobRefusal job) ? job : null;
	}

	/**
	 * Whether a wait for the lock cannot change the answer: the planned time was run or
	 * is being run, is not due, or the job is paused.
	 * @return whether the answer is final
	 */
	@Override
	public boolean isFinal() {
		return this.reason != Reason.OVERLAPPED;
	}

	@Override
	public boolean isSettled() {
		return switch (this.reason) {
			case DONE, OTHER_ID, NOT_DUE, TOO_LATE, PAUSED -> true;
			case RUNNING, OVERLAPPED -> false;
		};
	}

	/**
	 * Return the refusal as a text that follows a colon.
	 * @return the text
	 */
	@Override
	public String describe() {
		return switch (this.reason) {
			case RUNNING -> "running" + byLast(" on ") + ((this.last != null) ? " since " + this.last.startedAt() : "");
			case OVERLAPPED -> (this.last != null) ? "an earlier run, planned for %s, is still running%s"
				.formatted(this.last.plannedAt(), byLast(" on ")) : "an earlier run is still running";
			case DONE -> describeDone();
			case OTHER_ID ->
				"run, or recorded as missed, under another id of its method, by another version of the application";
			case NOT_DUE -> (this.nextDue != null) ? "not due before " + this.nextDue : "not due yet";
			case TOO_LATE -> "it can no longer start within its startWithin";
			case PAUSED -> "paused by " + ((this.pausedBy != null) ? this.pausedBy : "an operator");
		};
	}

	private String describeDone() {
		if (this.last == null) {
			return "done";
		}
		Instant end = (this.last.endedAt() != null) ? this.last.endedAt() : this.last.startedAt();
		if (this.last.outcome() == JobRun.Outcome.MISSED) {
			return "recorded as missed by %s at %s".formatted(this.last.instance(), end);
		}
		String verb = (this.last.outcome() == JobRun.Outcome.CRASHED) ? "started" : "done";
		return verb + byLast(" by ") + " at " + end
				+ ((this.last.outcome() == JobRun.Outcome.SUCCEEDED || this.last.outcome() == null) ? ""
						: " (" + this.last.outcome() + ")");
	}

	private String byLast(String preposition) {
		return (this.last != null) ? preposition + this.last.instance() : "";
	}

	/**
	 * The reason of a refusal.
	 */
	public enum Reason {

		/**
		 * The planned time, or a later one, is being run.
		 */
		RUNNING,

		/**
		 * A run of an earlier planned time of this job still holds the lock. The caller
		 * waits for it if the options have a wait.
		 */
		OVERLAPPED,

		/**
		 * The planned time, or a later one, was run.
		 */
		DONE,

		/**
		 * The planned time, or a later one, was run or recorded as missed under another
		 * id of the job's method, by another version of the application.
		 */
		OTHER_ID,

		/**
		 * The planned time is in the future.
		 */
		NOT_DUE,

		/**
		 * The planned time is so long ago that it does not start any more.
		 */
		TOO_LATE,

		/**
		 * An operator paused the job.
		 */
		PAUSED

	}

}
