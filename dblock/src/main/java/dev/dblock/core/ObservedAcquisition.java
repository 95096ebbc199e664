package dev.dblock.core;

import dev.dblock.LockHandle;
import dev.dblock.observation.LockActivity;
import dev.dblock.observation.LockObserver.Observed;
import dev.dblock.observation.LockOutcome;
import dev.dblock.observation.LockSubject;
import org.jspecify.annotations.Nullable;

/**
 * Reports a thread's attempt to acquire a lock to an observer, and the time for which the
 * thread then holds the lock.
 */
final class ObservedAcquisition implements Acquisition {

	private final LockObservations observations;

	private final LockSubject subject;

	private final @Nullable Observed acquire;

	private @Nullable Observed wait;

	ObservedAcquisition(LockObservations observations, String name, @Nullable String label) {
		this.observations = observations;
		this.subject = LockSubject.lock(name, label, 0);
		this.acquire = observations.begin(LockActivity.ACQUIRE, this.subject);
	}

	@Override
	public void waiting() {
		this.wait = this.observations.begin(LockActivity.WAIT, this.subject);
	}

	@Override
	public void acquired(LockHandle handle) {
		LockSubject granted = LockSubject.lock(handle.name(), this.subject.label(), handle.token());
		end(LockOutcome.ACQUIRED, granted, null);
		Observed hold = this.observations.begin(LockActivity.HOLD, granted);
		if (hold != null) {
			((LeaseHandle) handle).lease().observedBy(new ObservedHold(this.observations, hold, granted));
		}
	}

	@Override
	public void unavailable() {
		end(LockOutcome.UNAVAILABLE, this.subject, null);
	}

	@Override
	public void failed(Throwable ex) {
		end(LockOutcome.FAILED, this.subject, ex);
	}

	private void end(LockOutcome outcome, LockSubject subject, @Nullable Throwable error) {
		this.observations.end(this.wait, outcome, subject, error);
		this.observations.end(this.acquire, outcome, subject, error);
	}

}
