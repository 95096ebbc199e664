package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;

import dev.dblock.LockEngine;
import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.core.EngineSettings;
import dev.dblock.core.PollSettings;
import dev.dblock.mongodb.MongoLockSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.util.StringUtils;

/**
 * From {@code dblock.*} to the settings of the engine and of the store. What cannot be is
 * refused with the name of its property.
 */
final class DblockSettings {

	private static final Duration LONGEST = Duration.ofDays(365);

	private static final Duration LONGEST_RETENTION = Duration.ofDays(36_500);

	private final DblockProperties properties;

	DblockSettings(DblockProperties properties) {
		this.properties = properties;
	}

	EngineSettings forEngine() {
		DblockProperties.Poll poll = this.properties.getPoll();
		Duration minInterval = bounded("dblock.poll.min-interval", poll.getMinInterval(), Duration.ofMillis(1),
				LONGEST);
		Duration maxInterval = bounded("dblock.poll.max-interval", poll.getMaxInterval(), Duration.ofMillis(1),
				LONGEST);
		return new EngineSettings(this.properties.getNamePrefix(), acquirer(), defaults((options) -> {
		}), timeout(),
				refuseAs("dblock.poll.max-interval", maxInterval, () -> new PollSettings(minInterval, maxInterval)));
	}

	MongoLockSettings forMongodb() {
		DblockProperties.Mongodb mongodb = this.properties.getMongodb();
		return new MongoLockSettings(collection(mongodb.getCollection()),
				bounded("dblock.clock-allowance", this.properties.getClockAllowance(), Duration.ZERO, LONGEST),
				bounded("dblock.mongodb.retention", mongodb.getRetention(), Duration.ofDays(1), LONGEST_RETENTION),
				timeout(), mongodb.getStatements(), mongodb.isCreateIndexes());
	}

	/**
	 * Let the engine itself say whether it can work with the defaults and the prefix.
	 */
	void check(LockEngine engine) {
		defaults(engine::check);
		refuseAs("dblock.name-prefix", this.properties.getNamePrefix(), () -> engine.fullName("name"));
	}

	/**
	 * Add one option after the other, so that the one to blame is known.
	 */
	private LockOptions defaults(Consumer<LockOptions> check) {
		Duration lease = this.properties.getLease();
		Duration wait = this.properties.getWait();
		Duration minHold = this.properties.getMinHold();
		Duration maxHold = this.properties.getMaxHold();
		LockOptions leasing = checked("dblock.lease", lease,
				() -> new LockOptions(lease, Duration.ZERO, Duration.ZERO, Duration.ZERO, true, WhenLost.NOTIFY, null),
				check);
		LockOptions waiting = checked("dblock.wait", wait, () -> leasing.waitUpTo(wait), check);
		LockOptions holding = checked("dblock.min-hold", minHold, () -> waiting.minHold(minHold), check);
		return checked("dblock.max-hold", maxHold, () -> holding.maxHold(maxHold), check);
	}

	private static LockOptions checked(String property, Duration value, Supplier<LockOptions> options,
			Consumer<LockOptions> check) {
		return refuseAs(property, value, () -> {
			LockOptions candidate = options.get();
			check.accept(candidate);
			return candidate;
		});
	}

	private String acquirer() {
		String acquirer = this.properties.getAcquirer();
		return (acquirer != null && StringUtils.hasText(acquirer)) ? acquirer : InstanceName.create();
	}

	private Duration timeout() {
		return bounded("dblock.mongodb.timeout", this.properties.getMongodb().getTimeout(), Duration.ofMillis(1),
				LONGEST);
	}

	private static String collection(String name) {
		String reason = reasonAgainst(name);
		if (reason != null) {
			throw new InvalidConfigurationPropertyValueException("dblock.mongodb.collection", name, reason);
		}
		return name;
	}

	private static @Nullable String reasonAgainst(String collection) {
		if (!StringUtils.hasText(collection)) {
			return "A collection must have a name";
		}
		if (collection.indexOf('$') >= 0 || collection.indexOf('\0') >= 0) {
			return "The name of a collection must have neither '$' nor the NUL character in it";
		}
		if (collection.startsWith("system.")) {
			return "Collections whose names begin with 'system.' are the server's own";
		}
		return null;
	}

	private static Duration bounded(String property, Duration value, Duration least, Duration most) {
		if (value.compareTo(least) < 0) {
			throw new InvalidConfigurationPropertyValueException(property, value, "It must be at least " + least);
		}
		if (value.compareTo(most) > 0) {
			throw new InvalidConfigurationPropertyValueException(property, value, "It must be at most " + most);
		}
		return value;
	}

	private static <T> T refuseAs(String property, Object value, Supplier<T> attempt) {
		try {
			return attempt.get();
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidConfigurationPropertyValueException(property, value, String.valueOf(ex.getMessage()), ex);
		}
	}

}
