package dev.dblock.autoconfigure;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import dev.dblock.LockNamePrefix;
import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.settings.LockSettings;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.StringUtils;

/**
 * Converts {@code dblock.*} to the settings of the engine and of the store. Rejects
 * invalid values with the name of the property.
 */
final class DblockSettings {

	private static final Duration LONGEST = Duration.ofDays(365);

	private static final Duration LONGEST_RETENTION = Duration.ofDays(36_500);

	/** Bounds the tokens that are reserved for hand-overs. */
	private static final int MOST_HAND_OVERS = 10_000;

	private static final Duration FIRST_POLL = Duration.ofMillis(50);

	static final String LOCKS = "dblock.locks";

	// Contradicts no other option
	private static final LockOptions POSSIBLE = new LockOptions(LeaseTerms.MAX_LEASE, Duration.ZERO, Duration.ZERO,
			Duration.ZERO, true, WhenLost.NOTIFY, null, null);

	private final DblockProperties properties;

	DblockSettings(DblockProperties properties) {
		this.properties = properties;
	}

	EngineSettings forEngine(LockSettings locks, LockNamePrefix callPrefix) {
		String prefix = resolved("dblock.name-prefix", this.properties.namePrefix());
		LockOptions defaults = checked("dblock.", POSSIBLE, this.properties.lease(), this.properties.waitUpTo(),
				Duration.ZERO, this.properties.maxHold());
		EngineSettings settings = new EngineSettings(prefix, acquirer(), defaults, timeout(), poll(), handoff(), locks,
				callPrefix);
		return refuseAs("dblock.name-prefix", prefix, settings::checked);
	}

	/**
	 * Return the settings of single locks. Those that match the same name must not
	 * contradict each other; what the code sets is not known here.
	 */
	LockSettings forLocks() {
		Map<String, LockSettings.Setting> settings = new LinkedHashMap<>();
		this.properties.locks().forEach((key, lock) -> {
			String name = LOCKS + (key.matches("[\\w-]+") ? "." + key : "[" + key + "]");
			LockOptions options = checked(name + ".",
					new LockOptions(null, null, null, null, lock.autoRenew(), lock.whenLost(), null, lock.label()),
					lock.lease(), lock.waitUpTo(), lock.minHold(), lock.maxHold());
			LockOptions all = checked(name + ".permits", lock.permits(), options, LockOptions::permits);
			settings.put(key, refuseAs(name + ".when-unavailable", String.valueOf(lock.whenUnavailable()),
					() -> new LockSettings.Setting(all, lock.whenUnavailable())));
			refuseAs(LOCKS, key, () -> new LockSettings(settings));
		});
		LockSettings all = new LockSettings(settings);
		all.keys().forEach((key) -> refuseAs(LOCKS, key, () -> all.terms(key.replace('*', '…'), POSSIBLE)));
		return all;
	}

	/**
	 * Add one duration after the other to options, so that an error can be attributed to
	 * its property.
	 */
	private static LockOptions checked(String prefix, LockOptions options, @Nullable Duration lease,
			@Nullable Duration waitUpTo, @Nullable Duration minHold, @Nullable Duration maxHold) {
		LockOptions leasing = checked(prefix + "lease", lease, options, LockOptions::withLease);
		LockOptions waiting = checked(prefix + "wait", waitUpTo, leasing, LockOptions::waitUpTo);
		LockOptions holding = checked(prefix + "min-hold", minHold, waiting, LockOptions::minHold);
		return checked(prefix + "max-hold", maxHold, holding, LockOptions::maxHold);
	}

	private static <V> LockOptions checked(String property, @Nullable V value, LockOptions options,
			BiFunction<LockOptions, V, LockOptions> addition) {
		return (value == null) ? options : refuseAs(property, value, () -> {
			LockOptions candidate = addition.apply(options, value);
			LeaseTerms.of(candidate.orElse(POSSIBLE));
			return candidate;
		});
	}

	private EngineSettings.HandOff handoff() {
		return new EngineSettings.HandOff(MOST_HAND_OVERS,
				bounded("dblock.handoff.max-time", this.properties.handoff().maxTime(), Duration.ZERO, LONGEST));
	}

	private EngineSettings.Poll poll() {
		Duration longest = bounded("dblock.poll-interval", this.properties.pollInterval(), Duration.ofMillis(1),
				LONGEST);
		Duration first = (longest.compareTo(FIRST_POLL) < 0) ? longest : FIRST_POLL;
		return new EngineSettings.Poll(first, longest,
				this.properties.releaseFeed() == DblockProperties.ReleaseFeed.POLL);
	}

	MongoLockSettings forMongodb() {
		DblockProperties.Mongodb mongodb = this.properties.mongodb();
		String collection = mongodb.collection();
		return refuseAs("dblock.mongodb.collection", collection,
				() -> new MongoLockSettings(collection,
						bounded("dblock.clock-allowance", this.properties.clockAllowance(), Duration.ZERO, LONGEST),
						bounded("dblock.mongodb.retention", mongodb.retention(), Duration.ofDays(1), LONGEST_RETENTION),
						timeout(), mongodb.statements(), mongodb.createIndexes(), mongodb.fenceTransactions()));
	}

	private String acquirer() {
		String acquirer = this.properties.acquirer();
		return (acquirer != null && StringUtils.hasText(acquirer)) ? resolved("dblock.acquirer", acquirer)
				: instanceName();
	}

	/**
	 * Create the default name of an instance: {@code host:pid:suffix}. The suffix
	 * distinguishes instances with the same host and process id: containers whose
	 * processes all have the id 1, and contexts of the same process.
	 */
	static String instanceName() {
		byte[] suffix = new byte[4];
		new SecureRandom().nextBytes(suffix);
		return "%s:%d:%s".formatted(host(), ProcessHandle.current().pid(), HexFormat.of().formatHex(suffix));
	}

	private static String host() {
		// Set in containers and on Windows; a lookup can take seconds
		for (String variable : new String[] { "HOSTNAME", "COMPUTERNAME" }) {
			String host = System.getenv(variable);
			if (StringUtils.hasText(host)) {
				return host;
			}
		}
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "unknown-host";
		}
	}

	// Spring Boot leaves unknown placeholders unresolved
	private static String resolved(String property, String value) {
		if (value.contains("${")) {
			throw new InvalidConfigurationPropertyValueException(property, value,
					"It has a placeholder that cannot be resolved. Set the property, or give it a default as in "
							+ "${key:default}");
		}
		return value;
	}

	private Duration timeout() {
		return bounded("dblock.mongodb.timeout", this.properties.mongodb().timeout(), Duration.ofMillis(1), LONGEST);
	}

	private static Duration bounded(String property, Duration value, Duration least, Duration most) {
		if (value.compareTo(least) < 0) {
			throw refusal(property, value, "It must be at least " + Durations.written(least));
		}
		if (value.compareTo(most) > 0) {
			throw refusal(property, value, "It must be at most " + Durations.written(most));
		}
		return value;
	}

	static <T> T refuseAs(String property, Object value, Supplier<T> attempt) {
		try {
			return attempt.get();
		}
		catch (IllegalArgumentException ex) {
			// Before Spring Boot 4.1 this exception cannot be created with a cause from
			// here
			String reason = String.valueOf(ex.getMessage());
			throw (value instanceof Duration duration) ? refusal(property, duration, reason)
					: new InvalidConfigurationPropertyValueException(property, value, reason);
		}
	}

	private static InvalidConfigurationPropertyValueException refusal(String property, Duration value, String reason) {
		return new InvalidConfigurationPropertyValueException(property, Durations.written(value), reason);
	}

}
