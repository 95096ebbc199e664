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
 * @param permits how many permits were requested as the largest number of the lock; zero
 * for a plain lock
 */
public record LockRefusal(String name, @Nullable LockInfo holder, Duration waited, @Nullable String remark,
		Claim.@Nullable Verdict verdict, int permits) {

	/**
	 * Create a refusal of a plain lock.
	 * @param name the full name of the lock
	 * @param holder the state of the lock at the last request, as far as it is known
	 * @param waited how long the caller waited
	 * @param remark an additional remark, as a sentence without its full stop
	 * @param verdict why a firing of a job was refused
	 */
	public LockRefusal(String name, @Nullable LockInfo holder, Duration waited, @Nullable String remark,
			Claim.@Nullable Verdict verdict) {
		this(name, holder, waited, remark, verdict, 0);
	}

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
	 * Set how many permits were requested.
	 * @param permits the number; zero for a plain lock
	 * @return a copy with it
	 */
	public LockRefusal withPermits(int permits) {
		return new LockRefusal(this.name, this.holder, this.waited, this.remark, this.verdict, permits);
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
		// A plain lock that is free is refused if it has permits elsewhere, as the remark
		// says
		if (this.holder == null || this.permits != this.holder.permits() && this.holder.remaining().isZero()) {
			return text.toString();
		}
		text.append(": ");
		boolean all = this.permits > 1 && this.holder.permits() > 0;
		if (all) {
			text.append("all ").append(this.permits).append(" permits are in use, and the next one to end is ");
		}
		if (this.holder.held()) {
			text.append((this.permits > 1 && !all) ? "held as a plain lock by " : "held by ")
				.append(this.holder.acquirer());
			text.append(" (thread ").append(this.holder.thread()).append(") since ").append(this.holder.acquiredAt());
			text.append(", for ").append(this.holder.why());
		}
		else {
			text.append(all ? "still reserved, since it was released by " : "released by ")
				.append(this.holder.acquirer())
				.append(" within its minimum hold, or by an operator");
		}
		return text.append("; unavailable for another ")
			.append(Durations.readable(this.holder.remaining()))
			.append(this.holder.held() ? " unless it is renewed or released" : "")
			.toString();
	}

}
