package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.BiFunction;

import dev.dblock.LockEngine;
import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.core.EngineSettings;
import dev.dblock.core.HandOffSettings;
import dev.dblock.core.LockSetting;
import dev.dblock.core.LockSettings;
import dev.dblock.core.PollSettings;
import dev.dblock.core.UnlockedEngine;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * From {@code dblock.locks.*} to what is set for single locks. What contradicts itself,
 * or what is set for the same names elsewhere, is refused; what the code says is not
 * known here.
 */
final class PropertiesOfLocks {

	private static final LockOptions TOLERANT = new LockOptions(Duration.ofDays(365), Duration.ZERO, Duration.ZERO,
			Duration.ZERO, true, WhenLost.NOTIFY, null, null);

	private static final Duration ANY = Duration.ofSeconds(1);

	private final LockEngine judge = new UnlockedEngine(new EngineSettings("", "nobody", TOLERANT, ANY,
			new PollSettings(ANY, ANY), new HandOffSettings(0, Duration.ZERO)));

	private final Map<String, DblockProperties.Lock> properties;

	PropertiesOfLocks(Map<String, DblockProperties.Lock> properties) {
		this.properties = properties;
	}

	LockSettings toSettings() {
		Map<String, LockSetting> settings = new LinkedHashMap<>();
		this.properties.forEach(
				(key, lock) -> settings.put(key, new LockSetting(options(name(key), lock), lock.getWhenUnavailable())));
		LockSettings all = new LockSettings(settings);
		all.keys().forEach((key) -> checkTogether(key, settings.get(key), all));
		return all;
	}

	/**
	 * The property as an application writes it.
	 */
	static String name(String key) {
		return LockSettingNames.PREFIX + (key.matches("[\\w-]+") ? "." + key : "[" + key + "]");
	}

	/**
	 * Add one option after the other, so that the one to blame is known.
	 */
	private LockOptions options(String name, DblockProperties.Lock lock) {
		LockOptions options = new LockOptions(null, null, null, null, lock.getAutoRenew(), lock.getWhenLost(), null,
				lock.getLabel());
		options = with(name + ".lease", lock.getLease(), options, LockOptions::withLease);
		options = with(name + ".wait", lock.getWait(), options, LockOptions::waitUpTo);
		options = with(name + ".min-hold", lock.getMinHold(), options, LockOptions::minHold);
		return with(name + ".max-hold", lock.getMaxHold(), options, LockOptions::maxHold);
	}

	private LockOptions with(String property, @Nullable Duration value, LockOptions options,
			BiFunction<LockOptions, Duration, LockOptions> addition) {
		if (value == null) {
			return options;
		}
		return DblockSettings.refuseAs(property, value, () -> {
			LockOptions candidate = addition.apply(options, value);
			this.judge.check(candidate);
			return candidate;
		});
	}

	private void checkTogether(String key, @Nullable LockSetting setting, LockSettings all) {
		for (String name : all.namesInCommonWith(key)) {
			try {
				this.judge.check(all.of(name).options());
			}
			catch (IllegalArgumentException ex) {
				// Before Spring Boot 4.1 an exception with a cause cannot be made from
				// here
				throw new InvalidConfigurationPropertyValueException(name(key), setting,
						("It contradicts what other keys of dblock.locks say that match the same names, such as '%s', and"
								+ " that applies where this leaves something out: %s. Set both here, or change the others")
							.formatted(name, ex.getMessage()));
			}
		}
	}

}
