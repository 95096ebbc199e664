package dev.dblock.observation;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.dblock.observation.LockObserver.Activity;
import dev.dblock.observation.LockObserver.Observed;
import dev.dblock.observation.LockObserver.Outcome;
import dev.dblock.observation.LockObserver.Subject;
import dev.dblock.support.FailureLog;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Calls an observer, whose failures do not affect any lock.
 */
public final class LockObservations {

	private static final Logger logger = LoggerFactory.getLogger(LockObservations.class);

	private final LockObserver observer;

	public LockObservations(LockObserver observer) {
		this.observer = observer;
	}

	/**
	 * Begin to observe a thread that requests a lock.
	 */
	public Acquisition acquiring(String name, @Nullable String label) {
		return acquiring(name, label, 0);
	}

	/**
	 * Begin to observe a thread that requests a permit of a lock.
	 * @param name the full name of the lock
	 * @param label the name of the lock in metrics, if set
	 * @param permits how many permits it has; zero for a plain lock
	 * @return the acquisition
	 */
	public Acquisition acquiring(String name, @Nullable String label, int permits) {
		return new Acquisition(new Subject(name, label, 0, 1, permits));
	}

	/**
	 * Observe a request to the store.
	 * @param activity the activity
	 * @param subject its lock
	 * @param request sends the request
	 * @param outcome returns the outcome of an answer
	 * @return the answer
	 */
	public <T> T observe(Activity activity, Subject subject, Supplier<T> request, Function<T, Outcome> outcome) {
		Observed observed = begin(activity, subject);
		try {
			T answer = request.get();
			end(observed, outcome.apply(answer), subject, null);
			return answer;
		}
		catch (RuntimeException | Error ex) {
			end(observed, Outcome.FAILED, subject, ex);
			throw ex;
		}
	}

	private @Nullable Observed begin(Activity activity, Subject subject) {
		try {
			return this.observer.begin(activity, subject);
		}
		catch (Throwable ex) {
			logFailure(activity, ex);
			return null;
		}
	}

	private void end(@Nullable Observed observed, Outcome outcome, Subject subject, @Nullable Throwable error) {
		if (observed == null) {
			return;
		}
		try {
			observed.end(outcome, subject, error);
		}
		catch (Throwable ex) {
			logFailure(outcome, ex);
		}
	}

	private static void logFailure(Object what, Throwable ex) {
		FailureLog.warn(logger, ex,
				"The observation of a lock failed at '{}'. No lock is affected, but metrics and traces lack this"
						+ " observation; fix the handler, convention or registry that the stack trace at DEBUG shows",
				what);
	}

	/**
	 * A thread's attempt to acquire a lock, and the time for which the thread then holds
	 * the lock.
	 */
	public final class Acquisition {

		private final Subject subject;

		private final @Nullable Observed acquire;

		private @Nullable Observed wait;

		private Acquisition(Subject subject) {
			this.subject = subject;
			this.acquire = begin(Activity.ACQUIRE, this.subject);
		}

		/**
		 * Report that the thread has to wait. Called once.
		 */
		public void waiting() {
			this.wait = begin(Activity.WAIT, this.subject);
		}

		/**
		 * Report that the thread has the lock.
		 * @param token the fencing token
		 * @return the observation of the hold, or {@code null} if it is not wanted
		 */
		public @Nullable Hold acquired(long token) {
			Subject granted = new Subject(this.subject.name(), this.subject.label(), token, 1, this.subject.permits());
			end(Outcome.ACQUIRED, granted, null);
			Observed hold = begin(Activity.HOLD, granted);
			return (hold != null) ? new Hold(hold, granted) : null;
		}

		public void unavailable() {
			end(Outcome.UNAVAILABLE, this.subject, null);
		}

		public void failed(Throwable ex) {
			end(Outcome.FAILED, this.subject, ex);
		}

		private void end(Outcome outcome, Subject subject, @Nullable Throwable error) {
			LockObservations.this.end(this.wait, outcome, subject, error);
			LockObservations.this.end(this.acquire, outcome, subject, error);
		}

	}

	/**
	 * The time for which a lock is held. Its end is reported once.
	 */
	public final class Hold {

		private final Observed observed;

		private final Subject subject;

		private final AtomicBoolean ended = new AtomicBoolean();

		public Hold(Observed observed, Subject subject) {
			this.observed = observed;
			this.subject = subject;
		}

		public void end(Outcome outcome, @Nullable Throwable error) {
			if (this.ended.compareAndSet(false, true)) {
				LockObservations.this.end(this.observed, outcome, this.subject, error);
			}
		}

	}

}
