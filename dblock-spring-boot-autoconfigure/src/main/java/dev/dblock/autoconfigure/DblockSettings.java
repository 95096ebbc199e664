package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

import dev.dblock.LockNamePrefix;
import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.mongodb.MongoLockSettings;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.HandOffSettings;
import dev.dblock.settings.LockSettings;
import dev.dblock.settings.PollSettings;
import dev.dblock.support.Durations;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.StringUtils;

/**
 * Converts {@code dblock.*} to the settings of the engine and of the store. Rejects
 * invalid values with the name of the property.
 */
final class DblockSettings {

	private static final Duration LONGEST = Duration.ofDays(365);

	private static final Duration A_SECOND = Duration.ofSeconds(1);

	private static final Duration LONGEST_RETENTION = Duration.ofDays(36_500);

	private static final LockOptions POSSIBLE = new LockOptions(Duration.ofMinutes(1), Duration.ZERO, Duration.ZERO,
			Duration.ZERO, true, WhenLost.NOTIFY, null, null);

	private final DblockProperties properties;

	DblockSettings(DblockProperties properties) {
		this.properties = properties;
	}

	EngineSettings forEngine() {
		return forEngine(forLocks(), (name) -> "");
	}

	EngineSettings forEngine(LockSettings locks, LockNamePrefix callPrefix) {
		String prefix = resolved("dblock.name-prefix", this.properties.getNamePrefix());
		EngineSettings settings = new EngineSettings(prefix, acquirer(), POSSIBLE, timeout(), poll(), handoff());
		refuseAs("dblock.name-prefix", prefix, settings::names);
		return new EngineSettings(prefix, settings.acquirer(), defaults(settings), settings.timeout(), settings.poll(),
				settings.handOff(), locks, callPrefix);
	}

	LockSettings forLocks() {
		Map<String, DblockProperties.Lock> locks = this.properties.getLocks();
		return locks.isEmpty() ? LockSettings.NONE : new PropertiesOfLocks(locks).toSettings();
	}

	/**
	 * Return the store of the locks at run time, or {@link LockMode#NONE} if locking is
	 * disabled.
	 */
	LockMode mode() {
		return this.properties.isEnabled() ? this.properties.getMode() : LockMode.NONE;
	}

	private HandOffSettings handoff() {
		DblockProperties.Handoff handoff = this.properties.getHandoff();
		Duration maxTime = bounded("dblock.handoff.max-time", handoff.getMaxTime(), Duration.ZERO, LONGEST);
		return refuseAs("dblock.handoff.max-count", handoff.getMaxCount(),
				() -> new HandOffSettings(handoff.getMaxCount(), maxTime));
	}

	private PollSettings poll() {
		DblockProperties.Poll poll = this.properties.getPoll();
		Duration minInterval = bounded("dblock.poll.min-interval", poll.getMinInterval(), Duration.ofMillis(1),
				LONGEST);
		Duration maxInterval = bounded("dblock.poll.max-interval", poll.getMaxInterval(), Duration.ofMillis(1),
				LONGEST);
		return refuseAs("dblock.poll.max-interval", maxInterval, () -> new PollSettings(minInterval, maxInterval,
				this.properties.getReleaseFeed() == ReleaseFeedMode.POLL));
	}

	MongoLockSettings forMongodb() {
		DblockProperties.Mongodb mongodb = this.properties.getMongodb();
		String collection = mongodb.getCollection();
		return refuseAs("dblock.mongodb.collection", collection,
				() -> new MongoLockSettings(collection,
						bounded("dblock.clock-allowance", this.properties.getClockAllowance(), Duration.ZERO, LONGEST),
						bounded("dblock.mongodb.retention", mongodb.getRetention(), Duration.ofDays(1),
								LONGEST_RETENTION),
						timeout(), mongodb.getStatements(), mongodb.isCreateIndexes(), mongodb.isFenceTransactions()));
	}

	/**
	 * Add one option after the other, so that an error can be attributed to its property.
	 */
	private LockOptions defaults(EngineSettings judge) {
		Duration lease = this.properties.getLease();
		Duration wait = this.properties.getWait();
		Duration minHold = this.properties.getMinHold();
		Duration maxHold = this.properties.getMaxHold();
		LockOptions leasing = checked("dblock.lease", lease, () -> POSSIBLE.withLease(lease), judge);
		LockOptions waiting = checked("dblock.wait", wait, () -> leasing.waitUpTo(wait), judge);
		LockOptions holding = checked("dblock.min-hold", minHold, () -> waiting.minHold(minHold), judge);
		return checked("dblock.max-hold", maxHold, () -> holding.maxHold(maxHold), judge);
	}

	private static LockOptions checked(String property, Duration value, Supplier<LockOptions> options,
			EngineSettings judge) {
		return refuseAs(property, value, () -> {
			LockOptions candidate = options.get();
			judge.check(candidate);
			return candidate;
		});
	}

	private String acquirer() {
		String acquirer = this.properties.getAcquirer();
		return (acquirer != null && StringUtils.hasText(acquirer)) ? resolved("dblock.acquirer", acquirer)
				: InstanceName.create();
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
		return bounded("dblock.mongodb.timeout", this.properties.getMongodb().getTimeout(), Duration.ofMillis(1),
				LONGEST);
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

	/**
	 * Create the exception for an invalid duration. A duration below one second is often
	 * a number that was meant in seconds.
	 */
	private static InvalidConfigurationPropertyValueException refusal(String property, Duration value, String reason) {
		String hint = (value.isNegative() || value.isZero() || value.compareTo(A_SECOND) >= 0) ? ""
				: ". A number without a unit is in milliseconds; write %ds if you mean seconds"
					.formatted(value.toMillis());
		return new InvalidConfigurationPropertyValueException(property, Durations.written(value), reason + hint);
	}

}
