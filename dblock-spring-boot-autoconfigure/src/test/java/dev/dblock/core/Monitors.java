package dev.dblock.core;

import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.util.Arrays;
import java.util.List;

/**
 * Which monitors of the library a thread is in: on a virtual thread of JDK 21 to 23, what
 * it waits for in one of them keeps its carrier.
 */
final class Monitors {

	private Monitors() {
	}

	/**
	 * The classes whose monitors the current thread is in; none where it is a virtual
	 * one, of which the JVM does not tell.
	 */
	static List<String> held() {
		long[] me = { Thread.currentThread().getId() };
		ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(me, true, false)[0];
		if (info == null) {
			return List.of();
		}
		return Arrays.stream(info.getLockedMonitors())
			.map(LockInfo::getClassName)
			.filter((name) -> name.startsWith("dev.dblock."))
			.toList();
	}

}
