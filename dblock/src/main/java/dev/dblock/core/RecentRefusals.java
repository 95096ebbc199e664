package dev.dblock.core;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockInfo;
import dev.dblock.core.lease.LockClock;

/**
 * Predicts from recent refusals which locks are likely to be held, and until when. For
 * unknown names, it predicts whether most of them are held: the same job runs in several
 * processes, all but one of which are refused each time. This is only a hint. It decides
 * which request is sent to the store, but never the answer. The number of names is
 * limited.
 */
final class RecentRefusals {

	static final int MOST = 1000;

	/**
	 * A look-up of a lock, followed by a request that grants it, costs as much as
	 * requests alone if about 56 of 100 are refused (P2 of the benchmarks: 0.87 to 1.54).
	 */
	private static final double MANY = 0.6;

	/** A change of circumstances shows after about sixteen names. */
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
	 * Count an answer. Repeated requests for one name say nothing about other names, so
	 * they are not counted. If two threads count at the same time, one of the counts may
	 * be lost.
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
