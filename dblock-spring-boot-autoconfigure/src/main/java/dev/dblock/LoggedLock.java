package dev.dblock;

import org.jspecify.annotations.Nullable;
import org.slf4j.MDC;

/**
 * Names the lock under which a thread works in the lines that it logs meanwhile.
 */
final class LoggedLock {

	static final String NAME = "dblock.name";

	static final String TOKEN = "dblock.token";

	private final @Nullable String outerName;

	private final @Nullable String outerToken;

	private LoggedLock(@Nullable String outerName, @Nullable String outerToken) {
		this.outerName = outerName;
		this.outerToken = outerToken;
	}

	static LoggedLock enter(LockHandle handle) {
		LoggedLock entered = new LoggedLock(MDC.get(NAME), MDC.get(TOKEN));
		MDC.put(NAME, handle.name());
		MDC.put(TOKEN, Long.toString(handle.token()));
		return entered;
	}

	void leave() {
		restore(NAME, this.outerName);
		restore(TOKEN, this.outerToken);
	}

	private static void restore(String key, @Nullable String outer) {
		if (outer != null) {
			MDC.put(key, outer);
		}
		else {
			MDC.remove(key);
		}
	}

}
