package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

import dev.dblock.LockOptions;
import dev.dblock.WhenLost;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.HandOffSettings;
import dev.dblock.settings.LockSetting;
import dev.dblock.settings.LockSettings;
import dev.dblock.settings.PollSettings;
import dev.dblock.support.Durations;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * Converts {@code dblock.locks.*} to the settings of single locks. Rejects contradictions
 * within one entry, and between entries that match the same names. Settings in code are
 * not known here.
 */
final class PropertiesOfLocks {

	private static final LockOptions TOLERANT = new LockOptions(Duration.ofDays(365), Duration.ZERO, Duration.ZERO,
			Duration.ZERO, true, WhenLost.NOTIFY, null, null);

	private static final Duration ANY = Duration.ofSeconds(1);

	private final EngineSettings judge = new EngineSettings("", "nobody", TOLERANT, ANY, new PollSettings(ANY, ANY),
			new HandOffSettings(0, Duration.ZERO));

	private final Map<String, DblockProperties.Lock> properties;

	PropertiesOfLocks(Map<String, DblockProperties.Lock> properties) {
		this.properties = properties;
	}

	LockSettings toSettings() {
		Map<String, LockSetting> settings = new LinkedHashMap<>();
		this.properties.forEach(
				(key, lock) -> settings.put(key, new LockSetting(options(name(key), lock), lock.getWhenUnavailable())));
		LockSettings all = new LockSettings(settings);
		all.keys().stream().flatMap((key) -> all.namesInCommonWith(key).stream()).forEach((name) -> {
			if (contradiction(name, all) != null) {
				throw refusal(name, settings);
			}
		});
		return all;
	}

	/**
	 * Return the property name as an application writes it.
	 */
	static String name(String key) {
		return LockSettingNames.PREFIX + (key.matches("[\\w-]+") ? "." + key : "[" + key + "]");
	}

	/**
	 * Add one option after the other, so that an error can be attributed to its property.
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

	private @Nullable String contradiction(String name, LockSettings settings) {
		try {
			this.judge.check(settings.of(name).options());
			return null;
		}
		catch (IllegalArgumentException ex) {
			return ex.getMessage();
		}
	}

	private InvalidConfigurationPropertyValueException refusal(String name, Map<String, LockSetting> settings) {
		List<String> keys = contradicting(name, settings);
		String first = keys.get(0);
		String others = keys.stream().skip(1).map(PropertiesOfLocks::name).collect(Collectors.joining(" and "));
		// Before Spring Boot 4.1 this exception cannot be created with a cause from here
		return new InvalidConfigurationPropertyValueException(name(first), durations(this.properties.get(first)),
				("It contradicts %s, which matches the same names, such as '%s', and applies to whatever is not set"
						+ " here: %s. Set both here, or change the other")
					.formatted(others, name, contradiction(name, only(keys, settings))));
	}

	/**
	 * Remove one key after the other, the least specific first, as long as the remaining
	 * ones still contradict each other.
	 */
	private List<String> contradicting(String name, Map<String, LockSetting> settings) {
		List<String> keys = new LockSettings(settings).keys();
		List<String> leastSpecificFirst = new ArrayList<>(keys);
		Collections.reverse(leastSpecificFirst);
		for (String key : leastSpecificFirst) {
			List<String> rest = keys.stream().filter((each) -> !each.equals(key)).toList();
			keys = (contradiction(name, only(rest, settings)) != null) ? rest : keys;
		}
		return keys;
	}

	private static LockSettings only(List<String> keys, Map<String, LockSetting> settings) {
		Map<String, LockSetting> some = new LinkedHashMap<>(settings);
		some.keySet().retainAll(keys);
		return new LockSettings(some);
	}

	private static String durations(DblockProperties.@Nullable Lock lock) {
		Map<String, @Nullable Duration> durations = new LinkedHashMap<>();
		if (lock != null) {
			durations.put("lease", lock.getLease());
			durations.put("wait", lock.getWait());
			durations.put("min-hold", lock.getMinHold());
			durations.put("max-hold", lock.getMaxHold());
		}
		return durations.entrySet()
			.stream()
			.filter((entry) -> entry.getValue() != null)
			.map((entry) -> entry.getKey() + "=" + Durations.written(Objects.requireNonNull(entry.getValue())))
			.collect(Collectors.joining(", ", "{", "}"));
	}

}
