package dev.dblock.micrometer;

import dev.dblock.observation.LockActivity;
import dev.dblock.observation.LockOutcome;
import dev.dblock.observation.LockSubject;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a lock while it is observed.
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
	 * What is done with the lock.
	 * @return the activity
	 */
	public LockActivity activity() {
		return this.activity;
	}

	/**
	 * The lock.
	 * @return the subject; of an acquisition, the token is in it at the end only
	 */
	public LockSubject subject() {
		return this.subject;
	}

	/**
	 * How it has ended.
	 * @return the outcome, or {@code null} while it goes on
	 */
	public @Nullable LockOutcome outcome() {
		return this.outcome;
	}

	void end(LockOutcome outcome, LockSubject subject) {
		this.outcome = outcome;
		this.subject = subject;
	}

}
