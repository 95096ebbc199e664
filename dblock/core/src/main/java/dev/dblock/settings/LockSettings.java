package dev.dblock.settings;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

import dev.dblock.LockOptions;
import dev.dblock.WhenUnavailable;
import org.jspecify.annotations.Nullable;

import org.springframework.util.PatternMatchUtils;

/**
 * External settings for locks by their names, which take precedence over the code. A key
 * is the name of a lock as used by the application, without any prefix, or the beginning
 * of names, followed by {@code *}.
 * <p>
 * If several keys match, each option is taken from the longest one that sets it, and from
 * the name itself first. Lookups are not cached, since the number of names is unbounded.
 */
public final class LockSettings {

	/**
	 * Settings without any key.
	 */
	public static final LockSettings NONE = new LockSettings(Map.of());

	/**
	 * Placeholder for text that only a call determines, in the description of a name. No
	 * name contains it.
	 */
	public static final char ANYTHING = '\0';

	private static final char WILDCARD = '*';

	private static final char ANY = '…';

	private final Map<String, Setting> byName = new LinkedHashMap<>();

	// The longest first
	private final Map<String, Setting> byBeginning = new TreeMap<>(
			Comparator.comparing(String::length).reversed().thenComparing(Comparator.naturalOrder()));

	/**
	 * Create settings by name.
	 * @param settings the settings for each name, or beginning of names with {@code *}
	 * @throws IllegalArgumentException if a key has a {@code *} before its end
	 */
	public LockSettings(Map<String, Setting> settings) {
		settings.forEach((key, setting) -> {
			int wildcard = key.indexOf(WILDCARD);
			if (wildcard < 0) {
				this.byName.put(key, setting);
			}
			else if (wildcard == key.length() - 1) {
				this.byBeginning.put(key.substring(0, wildcard), setting);
			}
			else {
				throw new IllegalArgumentException(("The key '%s' has a '*' before its end. A key is the name of a"
						+ " lock, or the beginning of names followed by '*', such as 'order-*'")
					.formatted(key));
			}
		});
	}

	/**
	 * Return the settings for a name.
	 * @param name the name as used by the application
	 * @return the settings, which may be empty
	 */
	public Setting of(String name) {
		Setting setting = find(name);
		return (setting != null) ? setting : Setting.NOTHING;
	}

	private @Nullable Setting find(String name) {
		Setting setting = this.byName.get(name);
		for (Map.Entry<String, Setting> other : this.byBeginning.entrySet()) {
			if (name.startsWith(other.getKey())) {
				setting = (setting != null) ? setting.orElse(other.getValue()) : other.getValue();
			}
		}
		return setting;
	}

	/**
	 * Return the options for a name: its settings, completed by the options that the code
	 * sets.
	 */
	public LockOptions before(String name, LockOptions options) {
		Setting setting = find(name);
		return (setting != null) ? setting.options().orElse(options) : options;
	}

	/**
	 * Return the terms of a lock that is not requested yet.
	 * @param name the name as used by the application
	 * @param options the options apart from these settings; complete
	 * @return the terms
	 * @throws IllegalArgumentException if the options are invalid together with the
	 * settings for the name
	 */
	public LeaseTerms terms(String name, LockOptions options) {
		try {
			return LeaseTerms.of(before(name, options));
		}
		catch (IllegalArgumentException ex) {
			throw explained(name, ex);
		}
	}

	/**
	 * Add the origin of invalid options to the exception.
	 */
	IllegalArgumentException explained(String name, IllegalArgumentException ex) {
		List<String> keys = keys().stream().filter((key) -> covers(key, name)).toList();
		return keys.isEmpty() ? ex : new IllegalArgumentException(
				("%s. The settings for '%s' (dblock.locks or the LockSettings bean) override those in the code: change"
						+ " one of them")
					.formatted(ex.getMessage(), String.join("', '", keys)),
				ex);
	}

	/**
	 * Find the keys that match none of the given names.
	 * @param names the names, with {@link #ANYTHING} for each part that only a call
	 * determines
	 * @return the keys, in no particular order
	 */
	public List<String> unusedBy(Collection<String> names) {
		return keys().stream().filter((key) -> names.stream().noneMatch((name) -> covers(key, name))).toList();
	}

	/**
	 * Return whether a name can match a key, once a call has determined it.
	 */
	private static boolean covers(String key, String name) {
		if (key.indexOf(WILDCARD) < 0) {
			return isWithin(key, name);
		}
		String beginning = key.substring(0, key.length() - 1);
		int open = name.indexOf(ANYTHING);
		return name.startsWith(beginning) || open >= 0 && beginning.startsWith(name.substring(0, open));
	}

	private static boolean isWithin(String key, String name) {
		return PatternMatchUtils.simpleMatch(name.replace(ANYTHING, WILDCARD), key);
	}

	/**
	 * Return all keys.
	 * @return the keys, each name before the others, and the longest of the others first
	 */
	public List<String> keys() {
		List<String> keys = new ArrayList<>(this.byName.keySet());
		this.byBeginning.keySet().forEach((beginning) -> keys.add(beginning + WILDCARD));
		return keys;
	}

	/**
	 * Find the names that a declared name can become and to which different settings can
	 * apply: the name itself, and all keys that it covers. If the whole name is
	 * determined by a call, the keys that are meant for it are unknown, and only the name
	 * itself is returned.
	 * @param shape the name, with {@link #ANYTHING} for each part that only a call
	 * determines
	 * @return the names, with an ellipsis for text that neither the name nor the key
	 * determines
	 */
	List<String> namesCoveredBy(String shape) {
		Stream<String> keys = shape.chars().allMatch((c) -> c == ANYTHING) ? Stream.empty()
				: keys().stream().filter((key) -> isWithin(key, shape)).map((key) -> key.replace(WILDCARD, ANY));
		return Stream.concat(Stream.of(shape.replace(ANYTHING, ANY)), keys).distinct().toList();
	}

	/**
	 * The settings for the locks of one name or pattern.
	 *
	 * @param options options that take precedence over those in the code; those that are
	 * not set default to the code
	 * @param whenUnavailable behavior that takes precedence over that of an annotation;
	 * {@code null} if the annotation applies
	 */
	public record Setting(LockOptions options, @Nullable WhenUnavailable whenUnavailable) {

		/** No settings. */
		public static final Setting NOTHING = new Setting(LockOptions.defaults(), null);

		/**
		 * Check the settings.
		 * @throws IllegalArgumentException if they declare that methods run again, which
		 * only the methods themselves can
		 */
		public Setting {
			if (whenUnavailable == WhenUnavailable.RUN_AGAIN) {
				throw new IllegalArgumentException("RUN_AGAIN is declared on the method (whenUnavailable), since not"
						+ " every method can run again. Here, choose skip, throw or default");
			}
		}

		Setting orElse(Setting other) {
			return new Setting(this.options.orElse(other.options),
					(this.whenUnavailable != null) ? this.whenUnavailable : other.whenUnavailable);
		}

	}

}
