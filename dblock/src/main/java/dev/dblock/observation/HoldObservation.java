package dev.dblock.observation;

import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.observation.LockObserver.Observed;
import org.jspecify.annotations.Nullable;

/**
 * Reports the end of the time for which a lock is held, once.
 */
public final class HoldObservation {

	private final LockObservations observations;

	private final Observed hold;

	private final LockSubject subject;

	private final AtomicBoolean ended = new AtomicBoolean();

	public HoldObservation(LockObservations observations, Observed hold, LockSubject subject) {
		this.observations = observations;
		this.hold = hold;
		this.subject = subject;
	}

	public void end(LockOutcome outcome, @Nullable Throwable error) {
		if (this.ended.compareAndSet(false, true)) {
			this.observations.end(this.hold, outcome, this.subject, error);
		}
	}

}
