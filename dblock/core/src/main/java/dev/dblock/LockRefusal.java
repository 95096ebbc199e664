package dev.dblock;

import java.time.Duration;

import dev.dblock.claim.Claim;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;

/**
 * A lock that was requested and is held by another holder.
 *
 * @param name the full name of the lock, including the prefix
 * @param holder the state of the lock at the last request, as far as it is known
 * @param waited how long the caller waited
 * @param remark an additional remark, as a sentence without its full stop
 * @param verdict why a firing of a job was refused; {@code null} if the lock was not
 * requested for a planned time, or is held by something other than a run of the job
 */
public record LockRefusal(String name, @Nullable LockInfo holder, Duration waited, @Nullable String remark,
		Claim.@Nullable Verdict verdict) {

	/**
	 * Create a refusal without a remark.
	 * @param name the full name of the lock
	 * @param holder the state of the lock at the last request, as far as it is known
	 * @param waited how long the caller waited
	 */
	public LockRefusal(String name, @Nullable LockInfo holder, Duration waited) {
		this(name, holder, waited, null, null);
	}

	/**
	 * Return the refusal as an exception.
	 * @return a new exception
	 */
	public LockUnavailableException toException() {
		return new LockUnavailableException(this);
	}

	/**
	 * Describe the refusal in one sentence: the lock, its holder, since when and for how
	 * long.
	 * @return the sentence
	 */
	public String describe() {
		return (this.remark != null) ? describeLock() + ". " + this.remark : describeLock();
	}

	/**
	 * Whether another run of the job, an operator or the schedule made this call
	 * unnecessary. This is the normal case on all instances but one.
	 * @return whether the planned time was run, is not due, or the job is paused
	 */
	public boolean isSettled() {
		return this.verdict != null && this.verdict.isSettled();
	}

	private String describeLock() {
		StringBuilder text = new StringBuilder("The lock '").append(this.name).append("' is not available");
		if (!this.waited.isZero()) {
			text.append(" after a wait of ").append(Durations.readable(this.waited));
		}
		if (this.verdict != null) {
			return text.append(" for this planned time: ").append(this.verdict.describe()).toString();
		}
		if (this.holder == null) {
			return text.toString();
		}
		if (this.holder.held()) {
			text.append(": held by ").append(this.holder.acquirer());
			text.append(" (thread ").append(this.holder.thread()).append(") since ").append(this.holder.acquiredAt());
			text.append(", for ").append(this.holder.why());
		}
		else {
			text.append(": released by ")
				.append(this.holder.acquirer())
				.append(" within its minimum hold, or by an operator");
		}
		return text.append("; unavailable for another ")
			.append(Durations.readable(this.holder.remaining()))
			.append(this.holder.held() ? " unless it is renewed or released" : "")
			.toString();
	}

}
