package dev.dblock.core;

import java.util.concurrent.atomic.LongAdder;

/**
 * What made waiters ask the store again, or find that the lock was handed over to them.
 */
final class WaitStatistics {

	/**
	 * Why a waiter asks.
	 */
	enum Cause {

		/**
		 * It has not asked before.
		 */
		FIRST,
		/**
		 * It was told that the name may be free.
		 */
		SIGNAL,
		/**
		 * The holder's lease ended as far as it was known.
		 */
		EXPIRY,
		/**
		 * Its own process gives the lock back for longer than that is waited for.
		 */
		SLOW_RELEASE,
		/**
		 * It found by chance, or after a safety time, that it may ask or has the lock:
		 * whoever made that so should have told it.
		 */
		UNTOLD,
		/**
		 * Nothing tells of releases, so it asks now and then.
		 */
		POLL,
		/**
		 * It was told nothing for long, though releases are told.
		 */
		SLOW_POLL

	}

	private final LongAdder[] counts = new LongAdder[Cause.values().length];

	WaitStatistics() {
		for (int i = 0; i < this.counts.length; i++) {
			this.counts[i] = new LongAdder();
		}
	}

	void count(Cause cause) {
		this.counts[cause.ordinal()].increment();
	}

	long of(Cause cause) {
		return this.counts[cause.ordinal()].sum();
	}

}
