package dev.dblock.micrometer;

import dev.dblock.observation.LockActivity;
import dev.dblock.observation.LockOutcome;
import dev.dblock.observation.LockSubject;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/**
 * The context of an observation of a lock.
 */
public final class LockObservationContext extends Observation.Context {

	private final LockActivity activity;

	private LockSubject subject;

	private @Nullable LockOutcome outcome;

	LockObservationContext(LockActivity activity, LockSubject subject) {
		this.activity = activity;
		this.subject = subject;
	}

	/**
	 * Return the observed activity.
	 * @return the activity
	 */
	public LockActivity activity() {
		return this.activity;
	}

	/**
	 * Return the lock.
	 * @return the subject; for an acquisition, it has the token only at the end
	 */
	public LockSubject subject() {
		return this.subject;
	}

	/**
	 * Return the outcome of the activity.
	 * @return the outcome, or {@code null} while the activity is in progress
	 */
	public @Nullable LockOutcome outcome() {
		return this.outcome;
	}

	void end(LockOutcome outcome, LockSubject subject) {
		this.outcome = outcome;
		this.subject = subject;
	}

}
