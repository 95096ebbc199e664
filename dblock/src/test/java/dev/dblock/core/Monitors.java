package dev.dblock.core;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Which monitors a thread is in: on a virtual thread of JDK 21 to 23, a wait in one of
 * them pins its carrier.
 */
final class Monitors {

	private static final Set<Thread.State> WAITING = EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING);

	private Monitors() {
	}

	/**
	 * The classes whose monitors the current thread is in; none where it is a virtual
	 * one, for which the JVM reports none.
	 */
	static List<String> held() {
		return classes(look(List.of(Thread.currentThread()))).filter((name) -> name.startsWith("dev.dblock.")).toList();
	}

	/**
	 * The classes of all monitors that some threads are in, as soon as all of them wait.
	 */
	static List<String> heldWhileWaiting(List<Thread> threads) {
		List<ThreadInfo> waiting = LockWorld.eventually()
			.until(() -> look(threads), (found) -> found.size() == threads.size() && areWaiting(found));
		return classes(waiting).toList();
	}

	private static List<ThreadInfo> look(List<Thread> threads) {
		long[] ids = threads.stream().mapToLong(Thread::getId).toArray();
		return Arrays.stream(ManagementFactory.getThreadMXBean().getThreadInfo(ids, true, false))
			.filter(Objects::nonNull)
			.toList();
	}

	private static boolean areWaiting(List<ThreadInfo> threads) {
		return threads.stream().map(ThreadInfo::getThreadState).allMatch(WAITING::contains);
	}

	private static Stream<String> classes(List<ThreadInfo> threads) {
		return threads.stream()
			.flatMap((thread) -> Arrays.stream(thread.getLockedMonitors()))
			.map(LockInfo::getClassName);
	}

}
