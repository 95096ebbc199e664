package dev.dblock.settings;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

import dev.dblock.LockNamePrefix;
import org.jspecify.annotations.Nullable;

/**
 * Checks the names of locks and adds their prefixes.
 */
public final class LockNames {

	/**
	 * Servers that do not support pipeline updates limit index entries to 1024 bytes; the
	 * remainder is for the overhead of the entry.
	 */
	static final int MAX_BYTES = 1000;

	private final String prefix;

	private final LockNamePrefix callPrefix;

	/**
	 * Create names with a prefix.
	 * @param prefix the prefix of every name
	 * @param callPrefix the prefix between the two that depends on the call
	 * @throws IllegalArgumentException if no name could begin with the prefix
	 */
	LockNames(String prefix, LockNamePrefix callPrefix) {
		this.prefix = prefix;
		this.callPrefix = callPrefix;
		try {
			check("n");
		}
		catch (IllegalArgumentException ex) {
			throw new IllegalArgumentException(
					"The configured name prefix is not valid for any lock: " + ex.getMessage(), ex);
		}
	}

	public String prefix() {
		return this.prefix;
	}

	public String full(String name) {
		refuseBlank(name);
		String full = this.prefix + this.callPrefix.prefixOf(name) + name;
		checkCharacters(full);
		return full;
	}

	/**
	 * Check a name outside of a call, when the prefix of the call is unknown.
	 */
	public void check(String name) {
		refuseBlank(name);
		checkCharacters(this.prefix + name);
	}

	private static void refuseBlank(@Nullable String name) {
		if (name == null) {
			throw new IllegalArgumentException(
					"The name of the lock is null. Name what it protects, such as 'nightly-invoices'");
		}
		if (name.isBlank()) {
			throw new IllegalArgumentException("The name of a lock must not be empty or blank. Name what it protects,"
					+ " such as 'nightly-invoices'");
		}
	}

	private static void checkCharacters(String name) {
		boolean ascii = true;
		for (int i = 0; i < name.length(); i++) {
			char c = name.charAt(i);
			if (Character.isISOControl(c)) {
				throw new IllegalArgumentException(("The name of a lock must not contain control characters, which"
						+ " could forge log lines; character %d of %s is U+%04X")
					.formatted(i, shortened(name), (int) c));
			}
			ascii = ascii && c < 0x80;
		}
		int bytes = ascii ? name.length() : utf8Length(name);
		if (bytes > MAX_BYTES) {
			throw new IllegalArgumentException(("The name of a lock may have at most %d bytes in UTF-8, prefix"
					+ " included, to fit into an index entry of every server; %s has %d. Shorten it, or use a hash of"
					+ " it")
				.formatted(MAX_BYTES, shortened(name), bytes));
		}
	}

	/**
	 * Replace control characters in text of a caller that is stored and logged, such as a
	 * purpose. A line break in it could forge a line in the log of a caller that is
	 * refused.
	 */
	public static String onOneLine(String text) {
		return text.chars().anyMatch(Character::isISOControl) ? text.replaceAll("\\p{Cc}", " ") : text;
	}

	private static int utf8Length(String name) {
		try {
			return StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(name)).remaining();
		}
		catch (CharacterCodingException ex) {
			throw new IllegalArgumentException(
					"The name of a lock must be text that UTF-8 can encode; %s contains half of a surrogate pair"
						.formatted(shortened(name)),
					ex);
		}
	}

	private static String shortened(String name) {
		String visible = name.codePoints()
			.limit(40)
			.map((c) -> Character.isISOControl(c) ? '?' : c)
			.collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
			.toString();
		return "'" + visible + ((visible.length() < name.length()) ? "…'" : "'");
	}

}
