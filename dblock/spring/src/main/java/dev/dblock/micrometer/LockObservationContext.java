package dev.dblock.micrometer;

import dev.dblock.observation.LockObserver.Activity;
import dev.dblock.observation.LockObserver.Outcome;
import dev.dblock.observation.LockObserver.Subject;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/**
 * The context of an observation of a lock.
 */
public final class LockObservationContext extends Observation.Context {

	private final Activity activity;

	private Subject subject;

	private @Nullable Outcome outcome;

	LockObservationContext(Activity activity, Subject subject) {
		this.activity = activity;
		this.subject = subject;
	}

	/**
	 * Return the observed activity.
	 * @return the activity
	 */
	public Activity activity() {
		return this.activity;
	}

	/**
	 * Return the lock.
	 * @return the subject; for an acquisition, it has the token only at the end
	 */
	public Subject subject() {
		return this.subject;
	}

	/**
	 * Return the outcome of the activity.
	 * @return the outcome, or {@code null} while the activity is in progress
	 */
	public @Nullable Outcome outcome() {
		return this.outcome;
	}

	void end(Outcome outcome, Subject subject) {
		this.outcome = outcome;
		this.subject = subject;
	}

}
