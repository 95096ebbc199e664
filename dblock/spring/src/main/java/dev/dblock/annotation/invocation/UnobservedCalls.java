package dev.dblock.annotation.invocation;

import java.lang.reflect.Method;
import java.util.function.Consumer;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Notifies of calls of locked methods that no {@link CallSource} makes, although the code
 * around them could have used one.
 */
public final class UnobservedCalls {

	private static final ThreadLocal<@Nullable Consumer<Method>> LISTENER = new ThreadLocal<>();

	private UnobservedCalls() {
	}

	/**
	 * Run code in this thread.
	 * @param code the code
	 * @param listener receives each locked method that the code calls
	 */
	public static void during(Runnable code, Consumer<Method> listener) {
		Consumer<Method> outer = LISTENER.get();
		LISTENER.set(listener);
		try {
			code.run();
		}
		finally {
			LISTENER.set(outer);
		}
	}

	static void report(MethodInvocation invocation) {
		Consumer<Method> listener = LISTENER.get();
		if (listener != null && CallObserver.of(invocation) == null) {
			listener.accept(invocation.getMethod());
		}
	}

}
