package dev.dblock.settings;

import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

import dev.dblock.LockOptions;
import dev.dblock.store.Permits;
import org.jspecify.annotations.Nullable;

/**
 * Checks the names of locks.
 */
final class LockNames {

	/**
	 * Servers that do not support pipeline updates limit index entries to 1024 bytes; the
	 * remainder is for the overhead of the entry.
	 */
	static final int MAX_BYTES = 1000;

	private static final int PERMIT_BYTES = Permits.id("", LockOptions.MOST_PERMITS).length();

	private LockNames() {
	}

	/**
	 * Check a name as used by the application.
	 */
	static void refuseBlank(@Nullable String name) {
		if (name == null) {
			throw new IllegalArgumentException(
					"The name of the lock is null. Name what it protects, such as 'nightly-invoices'");
		}
		if (name.isBlank()) {
			throw new IllegalArgumentException("The name of a lock must not be empty or blank. Name what it protects,"
					+ " such as 'nightly-invoices'");
		}
	}

	/**
	 * Check a name that begins with its prefixes.
	 */
	static void checkCharacters(String name) {
		check(name, MAX_BYTES, "");
	}

	/**
	 * Check the name of a lock that is acquired: no permit of another lock may be stored
	 * under it, and each of its own permits needs a name.
	 */
	static void checkPermits(String name, int permits) {
		if (name.endsWith(")") && !Permits.lockOf(name).equals(name)) {
			throw new IllegalArgumentException(("The name of a lock must not end with a number of a permit, as in %s:"
					+ " a permit of the lock %s is stored under it. Choose another name")
				.formatted(shortened(name), shortened(Permits.lockOf(name))));
		}
		if (permits > 1) {
			check(name, MAX_BYTES - PERMIT_BYTES, " with permits");
		}
	}

	private static void check(String name, int mostBytes, String kind) {
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
		if (bytes > mostBytes) {
			throw new IllegalArgumentException(("The name of a lock%s may have at most %d bytes in UTF-8, prefix"
					+ " included, to fit into an index entry of every server; %s has %d. Shorten it, or use a hash of"
					+ " it")
				.formatted(kind, mostBytes, shortened(name), bytes));
		}
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
