package dev.dblock.observation;

import dev.dblock.observation.LockObserver.Observed;
import org.jspecify.annotations.Nullable;

/**
 * Reports a thread's attempt to acquire a lock to the observer, and the time for which
 * the thread then holds the lock.
 */
public final class AcquisitionObservation {

	private final LockObservations observations;

	private final LockSubject subject;

	private final @Nullable Observed acquire;

	private @Nullable Observed wait;

	AcquisitionObservation(LockObservations observations, String name, @Nullable String label) {
		this.observations = observations;
		this.subject = LockSubject.lock(name, label, 0);
		this.acquire = observations.begin(LockActivity.ACQUIRE, this.subject);
	}

	/**
	 * Report that the thread has to wait. Called once.
	 */
	public void waiting() {
		this.wait = this.observations.begin(LockActivity.WAIT, this.subject);
	}

	/**
	 * Report that the thread has the lock.
	 * @param token the fencing token
	 * @return the observation of the hold, or {@code null} if it is not wanted
	 */
	public @Nullable HoldObservation acquired(long token) {
		LockSubject granted = new LockSubject(this.subject.name(), this.subject.label(), token, 1);
		end(LockOutcome.ACQUIRED, granted, null);
		Observed hold = this.observations.begin(LockActivity.HOLD, granted);
		return (hold != null) ? new HoldObservation(this.observations, hold, granted) : null;
	}

	public void unavailable() {
		end(LockOutcome.UNAVAILABLE, this.subject, null);
	}

	public void failed(Throwable ex) {
		end(LockOutcome.FAILED, this.subject, ex);
	}

	private void end(LockOutcome outcome, LockSubject subject, @Nullable Throwable error) {
		this.observations.end(this.wait, outcome, subject, error);
		this.observations.end(this.acquire, outcome, subject, error);
	}

}
