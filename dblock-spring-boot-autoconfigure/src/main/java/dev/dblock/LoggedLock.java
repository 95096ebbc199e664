package dev.dblock;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

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

	private static LoggedLock enter(String name, String token) {
		LoggedLock entered = new LoggedLock(MDC.get(NAME), MDC.get(TOKEN));
		MDC.put(NAME, name);
		MDC.put(TOKEN, token);
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
