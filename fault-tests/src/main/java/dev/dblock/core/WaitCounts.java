package dev.dblock.core;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

import dev.dblock.LockEngine;
import dev.dblock.core.WaitStatistics.Cause;

/**
 * What made the waiters of an engine ask the store, which the engine keeps to itself.
 */
public final class WaitCounts {

	private WaitCounts() {
	}

	/**
	 * Read the engine's counters.
	 * @param engine the engine
	 * @return how often waiters asked, by the reason
	 */
	public static Map<String, Long> of(LockEngine engine) {
		WaitStatistics statistics = ((DefaultLockEngine) engine).waits();
		Map<Cause, Long> counts = new EnumMap<>(Cause.class);
		for (Cause cause : Cause.values()) {
			counts.put(cause, statistics.of(cause));
		}
		Map<String, Long> named = new LinkedHashMap<>();
		counts.forEach((cause, count) -> named.put(cause.name(), count));
		return named;
	}

}
