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
		add(remains, "queues", engine.queues().size());
		add(remains, "threads with leases", size(engine, "registry", "byThread"));
		add(remains, "lost leases", closed ? 0 : lostAndUnfinished(engine));
		return String.join(", ", remains);
	}

	private static void add(List<String> remains, String what, int count) {
		if (count != 0) {
			remains.add(count + " " + what);
		}
	}

	/**
	 * Count the lost leases under which work may continue. One that was lost while a
	 * thread passed it on is forgotten only once its handle is unreachable, which no
	 * handle is in a simulation.
	 */
	private static int lostAndUnfinished(DefaultLockEngine engine) {
		int count = 0;
		for (Object lease : (Collection<?>) read(engine, "registry", "lost")) {
			count += (boolean) read(((Lease) lease).owner(), "working") ? 1 : 0;
		}
		return count;
	}

	private static int size(DefaultLockEngine engine, String... path) {
		Object found = read(engine, path);
		return (found instanceof Map<?, ?> map) ? map.size() : ((Collection<?>) found).size();
	}

	private static Object read(Object from, String... path) {
		try {
			Object found = from;
			for (String name : path) {
				Field field = found.getClass().getDeclaredField(name);
				field.setAccessible(true);
				found = field.get(found);
			}
			return found;
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("The engine has other fields", ex);
		}
	}

}
