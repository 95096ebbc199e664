package dev.dblock.execution;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockedAction;
import dev.dblock.LockedFallback;
import dev.dblock.engine.LockEngine;
import dev.dblock.store.LockRepository.AskAnswer;
import dev.dblock.support.FailureLog;
import dev.dblock.support.LockMdc;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A call of work that brings something up to date. A call that finds the lock held asks
 * the holder to run the work once more. Every call is served by a run that begins after
 * it:
 * <ul>
 * <li>The holder closes the requests right before it releases the lock, by a request that
 * has no effect if the holder was asked since it last looked. It then runs the work
 * again.</li>
 * <li>A call that comes after the requests were closed cannot ask any more, and acquires
 * the lock.</li>
 * <li>If the holder crashes or loses the lock, the next acquirer runs the work
 * anyway.</li>
 * </ul>
 *
 * @param <T> the type of the result
 */
final class RepeatedWork<T extends @Nullable Object> {

	private static final Duration SHORTEST_PAUSE = Duration.ofMillis(10);

	private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

	/** Usually, it ends after one request of the holder. */
	private static final Duration WAIT = Duration.ofSeconds(1);

	private static final String OTHER_WORK = "Its holder does not run its work again on request. Use another name for"
			+ " other work";

	private static final Logger logger = LoggerFactory.getLogger(RepeatedWork.class);

	private final LockEngine engine;

	private final String name;

	private final LockOptions options;

	private final LockedAction<T> action;

	/** The last request that this holder has seen. */
	private @Nullable String seen;

	RepeatedWork(LockEngine engine, String name, LockOptions options, LockedAction<T> action) {
		this.engine = engine;
		this.name = name;
		this.options = options;
		this.action = action;
	}

	/**
	 * Run the work, or ask the holder of the lock to run it once more.
	 * @param asked is called if the holder was asked
	 */
	T execute(LockedFallback<T> asked) {
		refuseTransaction();
		long start = System.nanoTime();
		Duration wait = Duration.ZERO;
		while (true) {
			LockEngine.Attempt attempt = this.engine.acquireAskable(this.name, this.options, wait);
			if (attempt instanceof LockEngine.Granted grant) {
				return run(new Admission.Acquired(Hold.owned(this.engine, grant.handle())));
			}
			LockRefusal refusal = ((LockEngine.Refused) attempt).refusal();
			AskAnswer answer = this.engine.ask(this.name);
			if (answer == AskAnswer.ASKED) {
				logger.debug("The holder of the lock '{}' was asked to run its work once more", refusal.name());
				return Admission.unchanged(() -> asked.unavailable(refusal));
			}
			// A thread does not wait for a lock that it holds itself
			boolean own = !wait.isZero() && refusal.waited().isZero();
			LockInfo holder = refusal.holder();
			boolean permits = holder != null && holder.permits() > 1;
			if (answer == AskAnswer.NOT_ASKABLE || own || permits) {
				throw refused(refusal, Duration.ZERO, OTHER_WORK).toException();
			}
			Duration waited = Duration.ofNanos(System.nanoTime() - start);
			if (waited.compareTo(longestWait()) > 0) {
				throw refused(refusal, waited, null).toException();
			}
			// The holder is about to release the lock. Another one can be asked instead
			wait = WAIT;
		}
	}

	/**
	 * Refuse a transaction of the thread. In Spring's callbacks after the commit, it
	 * still is the thread's transaction: work that joins it there is not committed.
	 */
	private void refuseTransaction() {
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			throw new IllegalStateException(
					("The work under the lock '%s' must not be requested in a transaction: a run by another instance"
							+ " could begin before the commit, and work that joins the transaction in a callback after"
							+ " the commit is not committed. Request it after the commit, in another thread")
						.formatted(this.name));
		}
	}

	private static LockRefusal refused(LockRefusal refusal, Duration waited, @Nullable String remark) {
		return new LockRefusal(refusal.name(), refusal.holder(), waited,
				(refusal.remark() != null) ? refusal.remark() : remark, null);
	}

	/**
	 * Return how long to try to acquire a lock whose holder cannot be asked any more. If
	 * the holder crashes before it releases the lock, its lease has to end first.
	 */
	private Duration longestWait() {
		Duration lease = this.engine.complete(this.name, this.options).lease();
		return Objects.requireNonNull(lease).multipliedBy(2).plusSeconds(1);
	}

	private static Duration longer(Duration pause) {
		Duration twice = pause.multipliedBy(2);
		return (twice.compareTo(LONGEST_PAUSE) < 0) ? twice : LONGEST_PAUSE;
	}

	/**
	 * Run the work until there is no request for another run. The outcome is that of the
	 * last run, which has done the work of all those before it.
	 */
	private T run(Admission.Acquired acquired) {
		Hold hold = acquired.hold();
		while (true) {
			T result;
			try {
				result = acquired.run(this.action);
				refuseShared(hold);
				if (isRequested(hold)) {
					continue;
				}
			}
			catch (Throwable ex) {
				if (isRequestedAfter(ex, hold)) {
					continue;
				}
				hold.recordFailure(ex);
				throw Admission.<RuntimeException>unchanged(hold.leaveAfter(ex));
			}
			hold.leave();
			return result;
		}
	}

	/**
	 * Refuse work that continues under the lock after a run, since another run would
	 * begin beside it.
	 */
	private void refuseShared(Hold hold) {
		if (hold.isShared()) {
			throw new IllegalStateException(
					("Work under the lock '%s' continues after its run, which cannot be repeated"
							+ " beside it. Finish the work in the run")
						.formatted(hold.handle().name()));
		}
	}

	private boolean isRequestedAfter(Throwable failure, Hold hold) {
		try {
			boolean ends = failure instanceof VirtualMachineError || failure instanceof InterruptedException
					|| hold.isShared();
			if (ends) {
				refuseRequests(hold);
				warnOfRequests(hold, failure);
			}
			else if (isRequested(hold)) {
				log(hold, () -> FailureLog.warn(logger, failure,
						"The work under the lock '{}' failed, and runs once more, since it was requested again meanwhile",
						hold.handle().name()));
				return true;
			}
		}
		catch (Throwable ex) {
			if (ex != failure) {
				failure.addSuppressed(ex);
			}
		}
		return false;
	}

	/**
	 * Close the requests although there can be some, so that calls from now on do not ask
	 * a holder that gives up.
	 */
	private void refuseRequests(Hold hold) {
		String asked = this.seen;
		do {
			this.seen = asked;
			asked = hold.closeRequests(this.seen).orElse(null);
		}
		while (asked != null);
	}

	/**
	 * Close the requests, or return that there is one that has to be served by another
	 * run. If the server does not answer, this is tried again until the lease has ended.
	 */
	private boolean isRequested(Hold hold) {
		Duration pause = SHORTEST_PAUSE;
		try {
			while (!Thread.currentThread().isInterrupted()) {
				try {
					String asked = hold.closeRequests(this.seen).orElse(null);
					if (asked == null) {
						return false;
					}
					// The document can still name a holder whose lease has ended
					hold.handle().ensureHeld();
					this.seen = asked;
					return true;
				}
				catch (TransientDataAccessException | RecoverableDataAccessException
						| DataAccessResourceFailureException ex) {
					logger.debug("It is not known yet whether the work under the lock '{}' was requested again",
							hold.handle().name(), ex);
				}
				endIfLost(hold);
				LockSupport.parkNanos(this, pause.toNanos());
				pause = longer(pause);
			}
			warnOfRequests(hold, new InterruptedException());
			return false;
		}
		catch (LockLostException ex) {
			return false;
		}
		catch (DataAccessException ex) {
			warnOfRequests(hold, ex);
			return false;
		}
	}

	private static void endIfLost(Hold hold) {
		try {
			hold.handle().ensureHeld();
		}
		catch (DataAccessException ex) {
			logger.debug("It is not known yet whether the lock '{}' is held", hold.handle().name(), ex);
		}
	}

	private static void warnOfRequests(Hold hold, Throwable cause) {
		log(hold,
				() -> FailureLog.warn(logger, cause,
						"If the work under the lock '{}' was requested again while it ran," + " the next call runs it",
						hold.handle().name()));
	}

	private static void log(Hold hold, Runnable logging) {
		LockMdc.log(hold.handle().name(), hold.handle().token(), logging);
	}

}
