package dev.dblock.core;

import java.lang.StackWalker.StackFrame;
import java.util.Set;

/**
 * Finds the code that acquires a lock, so that a lock without an explicit reason at least
 * names its call site.
 */
final class CallSite {

	private static final StackWalker WALKER = StackWalker.getInstance();

	private static final String ROOT = "dev.dblock.";

	private static final Set<String> OWN_ROOMS = Set.of("core", "execution", "integration", "reactive", "shedlock");

	/** Calls the provider of this library's locks. */
	private static final String SHEDLOCK = "net.javacrumbs.shedlock.";

	private CallSite() {
	}

	static String describe() {
		return WALKER.walk((frames) -> frames.filter((frame) -> !isOwn(frame.getClassName()))
			.findFirst()
			.map(CallSite::describe)
			.orElse("unknown"));
	}

	private static String describe(StackFrame frame) {
		return frame.getClassName() + "#" + frame.getMethodName();
	}

	private static boolean isOwn(String className) {
		if (!className.startsWith(ROOT)) {
			return className.startsWith(SHEDLOCK);
		}
		int dot = className.indexOf('.', ROOT.length());
		return (dot < 0) ? className.startsWith("Lock", ROOT.length())
				: OWN_ROOMS.contains(className.substring(ROOT.length(), dot));
	}

}
