package dev.dblock;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Adds a lock to the log messages of a thread: the lock under which it works, or the lock
 * that a single message is about. Internal: not intended for applications.
 */
public final class LoggedLock {

	private static final String NAME = "dblock.name";

	private static final String TOKEN = "dblock.token";

	private final @Nullable String outerName;

	private final @Nullable String outerToken;

	private LoggedLock(@Nullable String outerName, @Nullable String outerToken) {
		this.outerName = outerName;
		this.outerToken = outerToken;
	}

	static LoggedLock enter(List<Hold> holds) {
		if (holds.size() == 1) {
			LockHandle only = holds.get(0).handle();
			return enter(only.name(), Long.toString(only.token()));
		}
		return enter(joined(holds, LockHandle::name), joined(holds, (handle) -> Long.toString(handle.token())));
	}

	private static String joined(List<Hold> holds, Function<LockHandle, String> what) {
		return holds.stream().map(Hold::handle).map(what).collect(Collectors.joining(", "));
	}

	private static LoggedLock enter(String name, @Nullable String token) {
		LoggedLock entered = new LoggedLock(MDC.get(NAME), MDC.get(TOKEN));
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
	public static void tell(String name, @Nullable Long token, Runnable line) {
		LoggedLock logged = enter(name, (token != null) ? token.toString() : null);
		try {
			line.run();
		}
		finally {
			logged.leave();
		}
	}

	void leave() {
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
