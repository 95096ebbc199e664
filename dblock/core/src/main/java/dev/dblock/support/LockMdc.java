package dev.dblock.support;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Adds a lock to the log messages of a thread: the lock under which it works, or the lock
 * that a single message is about.
 */
public final class LockMdc {

	private static final String NAME = "dblock.name";

	private static final String TOKEN = "dblock.token";

	private final @Nullable String outerName;

	private final @Nullable String outerToken;

	private LockMdc(@Nullable String outerName, @Nullable String outerToken) {
		this.outerName = outerName;
		this.outerToken = outerToken;
	}

	/**
	 * Add a lock to the log messages of this thread.
	 * @param name the full name of the lock
	 * @param token its fencing token, or {@code null} if it was not granted
	 * @return restores what was there before
	 */
	public static LockMdc enter(String name, @Nullable String token) {
		LockMdc entered = new LockMdc(MDC.get(NAME), MDC.get(TOKEN));
		set(NAME, name);
		set(TOKEN, token);
		return entered;
	}

	/**
	 * Log a message about a lock. Its fields are those of this lock, regardless of the
	 * lock under which the current thread works. They are not passed with the message
	 * itself, since formats with unique field names reject a field that comes from both
	 * the message and the thread.
	 * @param name the full name of the lock
	 * @param token its fencing token, or {@code null} if it was not granted
	 * @param line logs the message
	 */
	public static void log(String name, @Nullable Long token, Runnable line) {
		LockMdc logged = enter(name, (token != null) ? token.toString() : null);
		try {
			line.run();
		}
		finally {
			logged.leave();
		}
	}

	/**
	 * Restore the fields that the log messages of this thread had before.
	 */
	public void leave() {
		set(NAME, this.outerName);
		set(TOKEN, this.outerToken);
	}

	private static void set(String key, @Nullable String value) {
		if (value != null) {
			MDC.put(key, value);
		}
		else {
			MDC.remove(key);
		}
	}

}
