package dev.dblock.core;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockInfo;

/**
 * Which names are likely to be taken, and until when, from the last refusals; and of
 * names that nothing is known of, whether most are: the same job runs in several
 * processes, all but one of which are refused each time. Only a hint: it decides with
 * which request the store is asked, never the answer. Keeps a limited number of names.
 */
final class RecentRefusals {

	static final int MOST = 1000;

	/**
	 * A look at a lock and then a request that grants it cost as much as requests alone
	 * if some 56 of 100 are refused (P2 of the benchmarks: 0.87 to 1.54).
	 */
	private static final double MANY = 0.6;

	/** A change of circumstances shows after some sixteen names. */
	private static final double WEIGHT = 1 / 16.0;

	private final Map<String, Long> untilNanos = new ConcurrentHashMap<>();

	private final LockClock clock;

	private volatile double shareRefused;

	RecentRefusals(LockClock clock) {
		this.clock = clock;
	}

	void remember(LockInfo lock) {
		count(lock.name(), 1);
		long now = this.clock.nanoTime();
		if (this.untilNanos.size() >= MOST) {
			this.untilNanos.values().removeIf((until) -> until - now <= 0);
		}
		if (this.untilNanos.size() < MOST) {
			this.untilNanos.put(lock.name(), now + TimeUnit.MILLISECONDS.toNanos(lock.remaining().toMillis()));
		}
	}

	boolean isLikelyTaken(String name) {
		return this.shareRefused > MANY || isKnown(name);
	}

	private boolean isKnown(String name) {
		Long until = this.untilNanos.get(name);
		return until != null && until - this.clock.nanoTime() > 0;
	}

	/**
	 * One name that is asked for again and again tells nothing of others. Where two
	 * threads do this at once, one of them may count for nothing.
	 */
	private void count(String name, int refused) {
		if (!isKnown(name)) {
			double before = this.shareRefused;
			this.shareRefused = before + (refused - before) * WEIGHT;
		}
	}

	void forget(String name) {
		count(name, 0);
		this.untilNanos.remove(name);
	}

	int size() {
		return this.untilNanos.size();
	}

}
