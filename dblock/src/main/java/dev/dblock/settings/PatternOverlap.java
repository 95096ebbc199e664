package dev.dblock.settings;

import org.jspecify.annotations.Nullable;

/**
 * Compares a key with a name, both of which can contain placeholders: {@code *} in the
 * key and {@link LockSettings#ANYTHING} in the name match any text.
 */
final class PatternOverlap {

	static final char WILDCARD = '*';

	/**
	 * Placeholder for text that neither the key nor the name determines.
	 */
	static final char ANY = '…';

	private final String key;

	private final String name;

	/**
	 * Whether the rest of the key and of the name can match the same text, by the
	 * positions in both.
	 */
	private final boolean[][] common;

	private PatternOverlap(String key, String name) {
		this.key = key;
		this.name = name;
		this.common = new boolean[key.length() + 1][name.length() + 1];
		for (int k = key.length(); k >= 0; k--) {
			for (int n = name.length(); n >= 0; n--) {
				this.common[k][n] = compare(k, n);
			}
		}
	}

	/**
	 * Whether there is a text that both the key and the name match.
	 */
	static boolean exists(String key, String name) {
		return new PatternOverlap(key, name).common[0][0];
	}

	/**
	 * Return a text that both the key and the name match, or {@code null} if there is
	 * none.
	 */
	static @Nullable String of(String key, String name) {
		PatternOverlap text = new PatternOverlap(key, name);
		return text.common[0][0] ? text.example() : null;
	}

	private boolean compare(int k, int n) {
		boolean keyIsOpen = keyIsOpen(k);
		boolean nameIsOpen = nameIsOpen(n);
		if (keyIsOpen || nameIsOpen) {
			return (keyIsOpen && this.common[k + 1][n]) || (nameIsOpen && this.common[k][n + 1])
					|| (keyIsOpen && n < this.name.length() && this.common[k][n + 1])
					|| (nameIsOpen && k < this.key.length() && this.common[k + 1][n]);
		}
		if (k < this.key.length() && n < this.name.length()) {
			return this.key.charAt(k) == this.name.charAt(n) && this.common[k + 1][n + 1];
		}
		return k == this.key.length() && n == this.name.length();
	}

	private boolean keyIsOpen(int k) {
		return k < this.key.length() && this.key.charAt(k) == WILDCARD;
	}

	private boolean nameIsOpen(int n) {
		return n < this.name.length() && this.name.charAt(n) == LockSettings.ANYTHING;
	}

	private String example() {
		StringBuilder example = new StringBuilder();
		int k = 0;
		int n = 0;
		while (k < this.key.length() || n < this.name.length()) {
			boolean ofName = n < this.name.length() && this.common[k][n + 1] && (keyIsOpen(k) || nameIsOpen(n));
			if (keyIsOpen(k) && nameIsOpen(n)) {
				appendAny(example);
			}
			else if (ofName && !nameIsOpen(n)) {
				example.append(this.name.charAt(n));
			}
			else if (!ofName && !keyIsOpen(k)) {
				example.append(this.key.charAt(k));
			}
			if (ofName) {
				n++;
			}
			else {
				n += (keyIsOpen(k) || nameIsOpen(n)) ? 0 : 1;
				k++;
			}
		}
		return example.toString();
	}

	private static void appendAny(StringBuilder example) {
		if (example.isEmpty() || example.charAt(example.length() - 1) != ANY) {
			example.append(ANY);
		}
	}

}
