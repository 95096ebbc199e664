package dev.dblock.faults;

import java.util.ArrayList;
import java.util.List;

/**
 * When there were which faults.
 */
final class FaultLog {

	private final long startNanos = System.nanoTime();

	private final List<Window> windows = new ArrayList<>();

	/**
	 * A fault is over.
	 * @param kind what happened
	 * @param worker the number of the worker to which it happened; zero when it happened
	 * to the servers
	 * @param beginNanos when it began
	 */
	synchronized void add(String kind, int worker, long beginNanos) {
		Window window = new Window(kind, worker, beginNanos, System.nanoTime());
		this.windows.add(window);
		System.err.printf("%4d s  %-36s %-8s %,6d ms%n", (beginNanos - this.startNanos) / 1_000_000_000, kind,
				(worker > 0) ? "worker " + worker : "servers", (window.endNanos() - beginNanos) / 1_000_000);
	}

	/**
	 * Another member is primary, and the fault goes on: something that is told, and
	 * excuses nothing.
	 */
	void addElection(String kind, long beginNanos) {
		add(kind + ", election", Window.NOBODY, beginNanos);
	}

	synchronized List<Window> windows() {
		return List.copyOf(this.windows);
	}

}
