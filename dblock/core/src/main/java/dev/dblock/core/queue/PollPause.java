package dev.dblock.core.queue;

import java.util.concurrent.TimeUnit;

import dev.dblock.core.lease.LockClock;
import dev.dblock.settings.EngineSettings;

/**
 * Determines how long a waiter pauses before its next request, unless it is notified
 * earlier.
 */
public final class PollPause {

	/**
	 * The store counts in whole milliseconds, so a request right at the end of the
	 * holder's lease may be too early.
	 */
	private static final long AFTER_EXPIRY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	/**
	 * While releases are reported, polling is only a safeguard.
	 */
	private static final long SAFEGUARD_NANOS = TimeUnit.SECONDS.toNanos(20);

	private static final int MOST_DOUBLINGS = 20;

	private final long minNanos;

	private final long maxNanos;

	private final LockClock clock;

	public PollPause(EngineSettings.Poll settings, LockClock clock) {
		this.minNanos = settings.minInterval().toNanos();
		this.maxNanos = settings.maxInterval().toNanos();
		this.clock = clock;
	}

	/**
	 * Plan the next request.
	 * @param last the last answer
	 * @param refusals the number of consecutive refusals, including this one
	 * @param listening whether every release is reported
	 * @param now the monotonic clock
	 * @return the plan
	 */
	public Plan plan(Outcome.Unavailable last, int refusals, boolean listening, long now) {
		boolean reported = listening && last.failure() == null;
		long pollNanos = reported ? safeguard() : polling(last.isTimedOut() ? 1 : refusals);
		long expiryNanos = untilExpiry(last.expiryNanos());
		boolean expires = expiryNanos < pollNanos;
		WaitCause cause = expires ? WaitCause.EXPIRY : (reported ? WaitCause.SLOW_POLL : WaitCause.POLL);
		return new Plan(last, refusals, cause, now + (expires ? expiryNanos : pollNanos));
	}

	/**
	 * Return the pause while releases are not reported. It doubles with each consecutive
	 * refusal, and is jittered so that waiters do not send their requests in step.
	 */
	long polling(int refusals) {
		int doublings = Math.min(refusals - 1, MOST_DOUBLINGS);
		long pause = this.minNanos << doublings;
		boolean overflown = pause >> doublings != this.minNanos;
		return jittered(overflown ? this.maxNanos : Math.min(this.maxNanos, pause));
	}

	long safeguard() {
		return jittered(SAFEGUARD_NANOS);
	}

	long untilExpiry(long expiryNanos) {
		return (expiryNanos < Long.MAX_VALUE - AFTER_EXPIRY_NANOS) ? expiryNanos + AFTER_EXPIRY_NANOS : Long.MAX_VALUE;
	}

	private long jittered(long pause) {
		return this.clock.random(pause / 2, pause + 1);
	}

	/**
	 * The waiters' knowledge of the store: its last answer, regardless of which waiter
	 * sent the request, and when to send the next one. The plan outlasts the waiter that
	 * created it, so that a queue costs the same whether its head stays or gives up.
	 *
	 * @param last the last answer
	 * @param refusals the number of consecutive refusals
	 * @param cause the cause of the next request, unless a signal arrives earlier
	 * @param atNanos when to send the next request, on the monotonic clock
	 */
	public record Plan(Outcome.Unavailable last, int refusals, WaitCause cause, long atNanos) {
	}

	/**
	 * The causes for which a waiter requests the lock from the store.
	 */
	public enum WaitCause {

		/**
		 * The waiter has not sent a request before.
		 */
		FIRST,

		/**
		 * The waiter was notified that the lock may be free.
		 */
		SIGNAL,

		/**
		 * The holder's lease has ended, as far as it was known.
		 */
		EXPIRY,

		/**
		 * Releases are not reported, so the waiter polls.
		 */
		POLL,

		/**
		 * The waiter was not notified for a long time, although releases are reported.
		 */
		SLOW_POLL

	}

}
