package dev.dblock.core;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * Lists what an engine has kept though no work uses it any more.
 */
public final class EngineRemains {

	private EngineRemains() {
	}

	/**
	 * Return what is left in an engine that is no longer used.
	 * @param engine the engine
	 * @param closed whether it is closed, so that it no longer forgets lost leases whose
	 * work has ended
	 * @return its leases, queues and callbacks; empty if there are none
	 */
	public static String of(DefaultLockEngine engine, boolean closed) {
		List<String> remains = new ArrayList<>();
		add(remains, "held locks", engine.state().held());
		add(remains, "waiting threads", engine.state().waiting());
		add(remains, "callbacks", engine.state().callbacks());
		add(remains, "queues", engine.parts().queues().size());
		add(remains, "threads with leases", size(engine, "parts", "registry", "byThread"));
		add(remains, "lost leases", closed ? 0 : size(engine, "parts", "registry", "lost"));
		return String.join(", ", remains);
	}

	private static void add(List<String> remains, String what, int count) {
		if (count != 0) {
			remains.add(count + " " + what);
		}
	}

	private static int size(DefaultLockEngine engine, String... path) {
		try {
			Object found = engine;
			for (String name : path) {
				Field field = found.getClass().getDeclaredField(name);
				field.setAccessible(true);
				found = field.get(found);
			}
			return (found instanceof Map<?, ?> map) ? map.size() : ((Collection<?>) found).size();
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("The engine has other fields", ex);
		}
	}

}
