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
 * What is set for locks by their names, from outside of the code and before it. A key is
 * the name of a lock as the application says it, without any prefix, or a pattern in
 * which {@code *} stands for any text.
 * <p>
 * Where several keys match, each option comes from the most specific one that says
 * something about it: the name itself; then the pattern with the longest text before its
 * first {@code *}; then the one with more text in all; then the first by alphabet.
 * <p>
 * Nothing is remembered of the names that are looked up: their number has no bound.
 */
public final class LockSettings {

	/**
	 * Nothing is set for any name.
	 */
	public static final LockSettings NONE = new LockSettings(Map.of());

	/**
	 * Stands for text that only a call can tell, where a name is described. No name has
	 * it.
	 */
	public static final char ANYTHING = '\0';

	private final Map<String, LockSetting> byName = new LinkedHashMap<>();

	private final List<Pattern> patterns = new ArrayList<>();

	/**
	 * Settings by name.
	 * @param settings what is set for each name or pattern
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
	 * What is set for a name.
	 * @param name the name as the application says it
	 * @return what is set, which may be nothing
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
	 * Put what is set for a name before what the code says.
	 */
	public LockOptions before(String name, LockOptions options) {
		LockSetting setting = find(name);
		return (setting != null) ? setting.options().orElse(options) : options;
	}

	/**
	 * Say where options came from that cannot be.
	 */
	IllegalArgumentException explained(String name, IllegalArgumentException ex) {
		List<String> keys = new ArrayList<>();
		if (this.byName.containsKey(name)) {
			keys.add(name);
		}
		this.patterns.stream().filter((pattern) -> pattern.matches(name)).map(Pattern::text).forEach(keys::add);
		return keys.isEmpty() ? ex : new IllegalArgumentException(
				"%s. What is set for '%s' (dblock.locks or the LockSettings bean) comes before what the code says: change one of them"
					.formatted(ex.getMessage(), String.join("', '", keys)),
				ex);
	}

	/**
	 * Find the keys under which none of some names can come.
	 * @param names the names, with {@link #ANYTHING} for each part that only a call can
	 * tell
	 * @return the keys, in no particular order
	 */
	public List<String> unusedBy(Collection<String> names) {
		List<String> unused = keys();
		unused.removeIf((key) -> names.stream().anyMatch((name) -> PatternOverlap.exists(key, name)));
		return unused;
	}

	/**
	 * The keys for which something is set.
	 * @return the keys, each name before each pattern and each pattern before those that
	 * are less specific
	 */
	public List<String> keys() {
		List<String> keys = new ArrayList<>(this.byName.keySet());
		this.patterns.forEach((pattern) -> keys.add(pattern.text()));
		return keys;
	}

	/**
	 * Find names that come under a key and under others at once: one for each of the
	 * others, as far as there is any.
	 * @param key the key
	 * @return the names, with an ellipsis for what no key tells
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
	 * Find names that a declared name can become and for which something else may be set
	 * than for the others: itself, and all keys that it covers. Of a name that only a
	 * call can tell, it cannot be said which keys were meant for it.
	 * @param shape the name, with {@link #ANYTHING} for each part that only a call can
	 * tell
	 * @return the names, with an ellipsis for what neither the name nor the key tells
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
