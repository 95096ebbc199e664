package dev.dblock.core;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import dev.dblock.settings.PollSettings;

/**
 * How long a waiter lets pass before it asks again unless it is told something before.
 */
final class PollPause {

	/**
	 * The store counts in whole milliseconds: asking right at the end of the holder's
	 * lease may be too soon.
	 */
	private static final long AFTER_EXPIRY_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

	/**
	 * Where releases are told, asking is only a safeguard.
	 */
	private static final long SAFEGUARD_NANOS = TimeUnit.SECONDS.toNanos(20);

	private static final int MOST_DOUBLINGS = 20;

	private final long minNanos;

	private final long maxNanos;

	PollPause(PollSettings settings) {
		this.minNanos = settings.minInterval().toNanos();
		this.maxNanos = settings.maxInterval().toNanos();
	}

	/**
	 * When to ask again.
	 * @param last the answer
	 * @param refusals how many in a row there were with it
	 * @param listening whether every release is told
	 * @param now the monotonic clock
	 * @return the plan
	 */
	AskPlan plan(Outcome last, int refusals, boolean listening, long now) {
		boolean told = listening && last.failure() == null;
		long pollNanos = told ? safeguard() : polling(last.isTimedOut() ? 1 : refusals);
		long expiryNanos = untilExpiry(last.expiryNanos());
		boolean expires = expiryNanos < pollNanos;
		WaitCause cause = expires ? WaitCause.EXPIRY : (told ? WaitCause.SLOW_POLL : WaitCause.POLL);
		return new AskPlan(last, refusals, cause, now + (expires ? expiryNanos : pollNanos));
	}

	/**
	 * The pause where nothing tells of releases: doubles with each refusal in a row, and
	 * is jittered so that waiters do not ask in step.
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

	private static long jittered(long pause) {
		return ThreadLocalRandom.current().nextLong(pause / 2, pause + 1);
	}

}
