package dev.dblock.core;

import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.observation.LockObserver.Observed;
import dev.dblock.observation.LockOutcome;
import dev.dblock.observation.LockSubject;
import org.jspecify.annotations.Nullable;

/**
 * Reports the end of the time for which a lock is held, once.
 */
final class HoldObservation {

	private final LockObservations observations;

	private final Observed hold;

	private final LockSubject subject;

	private final AtomicBoolean ended = new AtomicBoolean();

	HoldObservation(LockObservations observations, Observed hold, LockSubject subject) {
		this.observations = observations;
		this.hold = hold;
		this.subject = subject;
	}

	void end(LockOutcome outcome, @Nullable Throwable error) {
		if (this.ended.compareAndSet(false, true)) {
			this.observations.end(this.hold, outcome, this.subject, error);
		}
	}

}
