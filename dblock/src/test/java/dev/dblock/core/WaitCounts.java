package dev.dblock.core;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;

import dev.dblock.LockHandle;
import dev.dblock.core.queue.PollPause.WaitCause;
import dev.dblock.engine.LockEngine;

/**
 * Internal state of an engine: above all, what made its waiters ask the store.
 */
public final class WaitCounts {

	private WaitCounts() {
	}

	/**
	 * Return whether the engine is currently notified of releases.
	 */
	public static boolean isNotifiedOfReleases(LockEngine engine) {
		return ((DefaultLockEngine) engine).parts().signals().isListening();
	}

	/**
	 * How many names the engine has a queue for.
	 */
	public static int queues(LockEngine engine) {
		return ((DefaultLockEngine) engine).parts().queues().size();
	}

	/**
	 * The grant of the server: the same for all handles to which it was handed on.
	 */
	public static String grantOf(LockHandle handle) {
		return ((LeaseHandle) handle).lease().key().holder();
	}

	/**
	 * Return how often waiters asked since there were no release signals.
	 */
	public static long polls(LockEngine engine) {
		return ((DefaultLockEngine) engine).state().attempts(WaitCause.POLL);
	}

	/**
	 * Read the engine's counters.
	 * @param engine the engine
	 * @return how often waiters asked, by the reason
	 */
	public static Map<String, Long> of(LockEngine engine) {
		EngineState state = ((DefaultLockEngine) engine).state();
		Map<WaitCause, Long> counts = new EnumMap<>(WaitCause.class);
		for (WaitCause cause : WaitCause.values()) {
			counts.put(cause, state.attempts(cause));
		}
		Map<String, Long> named = new LinkedHashMap<>();
		counts.forEach((cause, count) -> named.put(cause.name(), count));
		return named;
	}

}
