package dev.dblock.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

import dev.dblock.core.DefaultLockEngine;
import dev.dblock.core.EngineState;
import dev.dblock.store.LockRepository.StoreTime;
import dev.dblock.store.StoreLoginException;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.dao.QueryTimeoutException;

/**
 * Health of an engine and its store, independent of the version of Actuator.
 *
 * @param status {@code UP} if locks can be acquired and are renewed, {@code DOWN} if not,
 * {@code UNKNOWN} if there is no engine
 * @param details the details
 * @param error the error, if the store could not be queried
 */
record LockHealth(String status, Map<String, Object> details, @Nullable RuntimeException error) {

	/**
	 * Shorter than the request of a lock may take, because health is queried often.
	 */
	private static final Duration TIMEOUT = Duration.ofSeconds(3);

	/**
	 * The watchdog checks the leases at least once a second.
	 */
	private static final Duration STUCK = Duration.ofSeconds(10);

	private static LockHealth of(@Nullable DefaultLockEngine engine) {
		return (engine != null) ? ofUsed(engine) : new LockHealth("UNKNOWN",
				Map.of("reason", "no bean uses locks yet, or locking is switched off"), null);
	}

	/**
	 * Return the health of the default engine, with the health of the other engines under
	 * their names. The status is {@code UP} only if it is so for all of them.
	 * @param usual the default engine, or {@code null} while there is none
	 * @param others the other engines, by the names of their databases
	 * @return the health
	 */
	static LockHealth of(@Nullable DefaultLockEngine usual, Map<String, DefaultLockEngine> others) {
		LockHealth health = of(usual);
		if (others.isEmpty()) {
			return health;
		}
		Map<String, Object> databases = new LinkedHashMap<>();
		LockHealth worst = health;
		for (Map.Entry<String, DefaultLockEngine> other : others.entrySet()) {
			LockHealth of = ofUsed(other.getValue());
			Map<String, Object> details = new LinkedHashMap<>();
			details.put("status", of.status());
			details.putAll(of.details());
			databases.put(other.getKey(), details);
			worst = worst.status().equals("DOWN") ? worst : of;
		}
		Map<String, Object> details = new LinkedHashMap<>(health.details());
		details.put("databases", databases);
		return new LockHealth(worst.status(), details, worst.error());
	}

	private static LockHealth ofUsed(DefaultLockEngine engine) {
		Map<String, Object> details = new LinkedHashMap<>();
		EngineState state = engine.state();
		details.put("held", state.held());
		details.put("waiting", state.waiting());
		details.put("releases", state.releases().name().toLowerCase(Locale.ROOT));
		boolean alive = state.watchdogDelay().compareTo(STUCK) < 0;
		details.put("watchdog", alive ? "alive" : "stuck for " + state.watchdogDelay().toSeconds() + " s");
		try {
			if (engine.isFailing()) {
				engine.check(TIMEOUT);
			}
			engine.storeTime(TIMEOUT).ifPresent((time) -> addClock(details, time));
			details.put("store", "reachable");
			return new LockHealth(alive ? "UP" : "DOWN", details, null);
		}
		catch (RuntimeException ex) {
			details.put("store", describe(ex));
			return new LockHealth("DOWN", details, ex);
		}
	}

	private static String describe(RuntimeException ex) {
		if (ex instanceof StoreLoginException) {
			return "authentication failed";
		}
		if (ex instanceof PermissionDeniedDataAccessException) {
			return "not authorized";
		}
		if (ex instanceof InvalidDataAccessResourceUsageException) {
			return "unsuitable";
		}
		return (ex instanceof DataAccessResourceFailureException || ex instanceof QueryTimeoutException) ? "unreachable"
				: "failing";
	}

	/**
	 * Add the difference between the clocks. No lock depends on it, but it helps to
	 * compare the logs of the application and of the server.
	 */
	private static void addClock(Map<String, Object> details, StoreTime time) {
		Duration uncertain = Duration.between(time.notBefore(), time.notAfter()).dividedBy(2);
		Instant middle = time.notBefore().plus(uncertain);
		details.put("clockOffsetMillis", Duration.between(Instant.now(), middle).toMillis());
		details.put("clockUncertaintyMillis", uncertain.toMillis());
	}

}
