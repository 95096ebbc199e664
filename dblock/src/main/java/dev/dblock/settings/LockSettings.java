package dev.dblock.settings;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

import dev.dblock.LockOptions;
import org.jspecify.annotations.Nullable;

import org.springframework.util.PatternMatchUtils;

/**
 * External settings for locks by their names, which take precedence over the code. A key
 * is the name of a lock as used by the application, without any prefix, or a pattern in
 * which {@code *} matches any text.
 * <p>
 * If several keys match, each option is taken from the most specific key that sets it:
 * the name itself; then the pattern with the longest text before its first {@code *};
 * then the one with more text in total; then the first in alphabetical order.
 * <p>
 * Lookups are not cached, since the number of names is unbounded.
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

	private final Map<String, LockSetting> byName = new LinkedHashMap<>();

	private final List<Pattern> patterns = new ArrayList<>();

	/**
	 * Create settings by name.
	 * @param settings the settings for each name or pattern
	 */
	public LockSettings(Map<String, LockSetting> settings) {
		settings.forEach((key, setting) -> {
			if (key.indexOf(PatternOverlap.WILDCARD) < 0) {
				this.byName.put(key, setting);
			}
			else {
				this.patterns.add(new Pattern(key, setting));
			}
		});
		if (!this.patterns.isEmpty()) {
			this.patterns.sort(Pattern.MOST_SPECIFIC_FIRST);
		}
	}

	/**
	 * Return the settings for a name.
	 * @param name the name as used by the application
	 * @return the settings, which may be empty
	 */
	public LockSetting of(String name) {
		LockSetting setting = find(name);
		return (setting != null) ? setting : LockSetting.NOTHING;
	}

	private @Nullable LockSetting find(String name) {
		if (this.byName.isEmpty() && this.patterns.isEmpty()) {
			return null;
		}
		LockSetting setting = this.byName.get(name);
		for (Pattern pattern : this.patterns) {
			if (pattern.matches(name)) {
				setting = (setting != null) ? setting.orElse(pattern.setting()) : pattern.setting();
			}
		}
		return setting;
	}

	/**
	 * Return the options for a name: its settings, completed by the options that the code
	 * sets.
	 */
	public LockOptions before(String name, LockOptions options) {
		LockSetting setting = find(name);
		return (setting != null) ? setting.options().orElse(options) : options;
	}

	/**
	 * Add the origin of invalid options to the exception.
	 */
	IllegalArgumentException explained(String name, IllegalArgumentException ex) {
		List<String> keys = new ArrayList<>();
		if (this.byName.containsKey(name)) {
			keys.add(name);
		}
		this.patterns.stream().filter((pattern) -> pattern.matches(name)).map(Pattern::text).forEach(keys::add);
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
		List<String> unused = keys();
		unused.removeIf((key) -> names.stream().anyMatch((name) -> PatternOverlap.exists(key, name)));
		return unused;
	}

	/**
	 * Return all keys.
	 * @return the keys, each name before each pattern and each pattern before those that
	 * are less specific
	 */
	public List<String> keys() {
		List<String> keys = new ArrayList<>(this.byName.keySet());
		this.patterns.forEach((pattern) -> keys.add(pattern.text()));
		return keys;
	}

	/**
	 * Find names that match both the given key and others: one for each of the other
	 * keys, if there is any.
	 * @param key the key
	 * @return the names, with an ellipsis for text that no key determines
	 */
	public List<String> namesInCommonWith(String key) {
		String open = key.replace(PatternOverlap.WILDCARD, ANYTHING);
		return keys().stream()
			.map((other) -> PatternOverlap.of(other, open))
			.filter(Objects::nonNull)
			.distinct()
			.toList();
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
		Set<String> names = new LinkedHashSet<>();
		names.add(shape.replace(ANYTHING, PatternOverlap.ANY));
		if (shape.chars().anyMatch((c) -> c != ANYTHING)) {
			keys().stream()
				.map((key) -> key.replace(PatternOverlap.WILDCARD, PatternOverlap.ANY))
				.filter((key) -> PatternOverlap.exists(key, shape))
				.forEach(names::add);
		}
		return List.copyOf(names);
	}

	private record Pattern(String text, LockSetting setting) {

		static final Comparator<Pattern> MOST_SPECIFIC_FIRST = Comparator.comparing(Pattern::prefixLength)
			.thenComparing(Pattern::literalLength)
			.reversed()
			.thenComparing(Pattern::text);

		boolean matches(String name) {
			return PatternMatchUtils.simpleMatch(this.text, name);
		}

		private int prefixLength() {
			return this.text.indexOf(PatternOverlap.WILDCARD);
		}

		private long literalLength() {
			return this.text.chars().filter((c) -> c != PatternOverlap.WILDCARD).count();
		}

	}

}
