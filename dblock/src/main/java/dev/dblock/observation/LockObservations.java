package dev.dblock.observation;

import java.util.function.Function;
import java.util.function.Supplier;

import dev.dblock.observation.LockObserver.Observed;
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
	public AcquisitionObservation acquiring(String name, @Nullable String label) {
		return new AcquisitionObservation(this, name, label);
	}

	/**
	 * Observe a request to the store.
	 * @param activity the activity
	 * @param subject its lock
	 * @param request sends the request
	 * @param outcome returns the outcome of an answer
	 * @return the answer
	 */
	public <T> T observe(LockActivity activity, LockSubject subject, Supplier<T> request,
			Function<T, LockOutcome> outcome) {
		Observed observed = begin(activity, subject);
		try {
			T answer = request.get();
			end(observed, outcome.apply(answer), subject, null);
			return answer;
		}
		catch (RuntimeException | Error ex) {
			end(observed, LockOutcome.FAILED, subject, ex);
			throw ex;
		}
	}

	@Nullable Observed begin(LockActivity activity, LockSubject subject) {
		try {
			return this.observer.begin(activity, subject);
		}
		catch (Throwable ex) {
			logFailure(activity, ex);
			return null;
		}
	}

	void end(@Nullable Observed observed, LockOutcome outcome, LockSubject subject, @Nullable Throwable error) {
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

}
