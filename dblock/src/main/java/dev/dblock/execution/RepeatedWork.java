package dev.dblock.execution;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import dev.dblock.LockInterruptedException;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockedAction;
import dev.dblock.LockedFallback;
import dev.dblock.engine.LockEngine;
import dev.dblock.support.FailureLog;
import dev.dblock.support.LockMdc;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.dao.DataAccessException;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Work that brings something up to date. A call that finds the lock held asks the holder
 * to run the work once more. Every call is served by a run that begins after it:
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

	/** If the options do not have a lease before the lock is acquired. */
	private static final Duration USUAL_LEASE = Duration.ofSeconds(30);

	private static final Logger logger = LoggerFactory.getLogger(RepeatedWork.class);

	private final LockEngine engine;

	private final String name;

	private final LockOptions options;

	private final LockedAction<T> action;

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
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			throw new IllegalStateException(
					("The work under the lock '%s' must not be requested in a transaction: a run by another instance"
							+ " could begin before the commit, and would not see its changes. Request it after the"
							+ " commit")
						.formatted(this.name));
		}
		long start = System.nanoTime();
		Duration pause = SHORTEST_PAUSE;
		while (true) {
			LockEngine.Attempt attempt = this.engine.acquireAskable(this.name, this.options);
			if (attempt instanceof LockEngine.Granted grant) {
				return run(new Admission.Acquired(Hold.owned(this.engine, grant.handle())));
			}
			LockRefusal refusal = ((LockEngine.Refused) attempt).refusal();
			switch (this.engine.ask(this.name)) {
				case ASKED -> {
					return Admission.unchanged(() -> asked.unavailable(refusal));
				}
				case NOT_ASKABLE -> throw new LockRefusal(refusal.name(), refusal.holder(), refusal.waited(),
						"Its holder does not run its work again on request. Use another name for other work", null)
					.toException();
				case NOT_HELD -> {
					// Usually for the time of one request of the holder
					if (System.nanoTime() - start > longestWait().toNanos()) {
						throw refusal.toException();
					}
					pause(pause);
					pause = longer(pause);
				}
			}
		}
	}

	/**
	 * Return how long to try to acquire a lock whose holder cannot be asked any more. If
	 * the holder crashes before it releases the lock, its lease has to end first.
	 */
	private Duration longestWait() {
		LockOptions completed = this.engine.complete(this.name, this.options);
		Duration lease = (completed.lease() != null) ? completed.lease() : USUAL_LEASE;
		return lease.multipliedBy(2).plusSeconds(1);
	}

	private void pause(Duration pause) {
		long start = System.nanoTime();
		for (long left = pause.toNanos(); left > 0; left = pause.toNanos() - (System.nanoTime() - start)) {
			refuseIfInterrupted();
			LockSupport.parkNanos(this, left);
		}
	}

	private void refuseIfInterrupted() {
		if (Thread.currentThread().isInterrupted()) {
			throw new LockInterruptedException(this.engine.fullName(this.name), new InterruptedException());
		}
	}

	private static Duration longer(Duration pause) {
		Duration twice = pause.multipliedBy(2);
		return (twice.compareTo(LONGEST_PAUSE) < 0) ? twice : LONGEST_PAUSE;
	}

	/**
	 * Run the work until nobody has asked for another run. The outcome is that of the
	 * last run, which has done the work of all those before it.
	 */
	private T run(Admission.Acquired acquired) {
		Hold hold = acquired.hold();
		String seen = null;
		while (true) {
			T result;
			try {
				result = acquired.run(this.action);
			}
			catch (Throwable ex) {
				boolean stopped = ex instanceof Error || ex instanceof InterruptedException;
				String asked = stopped ? null : close(hold, seen);
				if (asked == null) {
					hold.recordFailure(ex);
					throw Admission.<RuntimeException>unchanged(hold.leaveAfter(ex));
				}
				LockMdc.log(hold.handle().name(), hold.handle().token(),
						() -> FailureLog.warn(logger, ex,
								"The work under the lock '{}' failed, and runs once more, since it was requested again"
										+ " meanwhile",
								hold.handle().name()));
				seen = asked;
				continue;
			}
			seen = close(hold, seen);
			if (seen == null) {
				hold.leave();
				return result;
			}
		}
	}

	/**
	 * Close the requests. If the server does not answer, this is tried again until the
	 * lease has ended.
	 * @return a request for another run; {@code null} if there is none, or if there can
	 * be no other run
	 */
	private @Nullable String close(Hold hold, @Nullable String seen) {
		Duration pause = SHORTEST_PAUSE;
		try {
			while (true) {
				refuseIfInterrupted();
				try {
					return hold.closeRequests(seen).orElse(null);
				}
				catch (DataAccessException ex) {
					logger.debug("It is not known yet whether the work under the lock '{}' was requested again",
							hold.handle().name(), ex);
				}
				if (isLost(hold)) {
					return null;
				}
				pause(pause);
				pause = longer(pause);
			}
		}
		catch (LockInterruptedException ex) {
			LockMdc
				.log(hold.handle().name(), hold.handle().token(),
						() -> logger.warn(
								"The thread that runs the work under the lock '{}' was interrupted. If the work"
										+ " was requested again meanwhile, the next call runs it",
								hold.handle().name()));
			return null;
		}
	}

	private static boolean isLost(Hold hold) {
		try {
			hold.handle().ensureHeld();
			return false;
		}
		catch (LockLostException ex) {
			return true;
		}
		catch (DataAccessException ex) {
			logger.debug("It is not known yet whether the lock '{}' is held", hold.handle().name(), ex);
			return false;
		}
	}

}
