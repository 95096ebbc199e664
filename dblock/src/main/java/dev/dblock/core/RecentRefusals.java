package dev.dblock.core;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockInfo;

/**
 * Remembers until when recently refused locks are held. A caller that asks again is
 * answered by a read, which takes as long as a request that changes nothing, while a
 * refused request to acquire takes 1.6 times as long (P2 of the benchmarks). This is only
 * a hint: it decides which request is sent to the store, but never the answer. The number
 * of names is limited.
 */
final class RecentRefusals {

	static final int MOST = 1000;

	private final Map<String, Long> untilNanos = new ConcurrentHashMap<>();

	private final LockClock clock;

	RecentRefusals(LockClock clock) {
		this.clock = clock;
	}

	void remember(LockInfo lock) {
		long now = this.clock.nanoTime();
		if (this.untilNanos.size() >= MOST) {
			this.untilNanos.values().removeIf((until) -> until - now <= 0);
		}
		if (this.untilNanos.size() < MOST) {
			this.untilNanos.put(lock.name(), now + TimeUnit.MILLISECONDS.toNanos(lock.remaining().toMillis()));
		}
	}

	boolean isLikelyTaken(String name) {
		Long until = this.untilNanos.get(name);
		return until != null && until - this.clock.nanoTime() > 0;
	}

	void forget(String name) {
		this.untilNanos.remove(name);
	}

	int size() {
		return this.untilNanos.size();
	}

}
