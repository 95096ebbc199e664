package dev.dblock.core;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockInfo;

/**
 * Which names are likely to be taken, and until when, from the last refusals. Only a
 * hint: it decides with which request the store is asked, never the answer. Keeps a
 * limited number of names.
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
