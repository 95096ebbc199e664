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
		add(new Window(kind, worker, beginNanos, System.nanoTime()));
	}

	/**
	 * Another member is primary, and the fault goes on: something that is told, and
	 * excuses nothing.
	 */
	synchronized void addElection(String kind, long beginNanos) {
		add(Window.election(kind, beginNanos, System.nanoTime()));
	}

	private void add(Window window) {
		this.windows.add(window);
		System.err.printf("%4d s  %-36s %-8s %,6d ms%n", (window.beginNanos() - this.startNanos) / 1_000_000_000,
				window.kind(), (window.worker() > 0) ? "worker " + window.worker() : "servers",
				(window.endNanos() - window.beginNanos()) / 1_000_000);
	}

	synchronized List<Window> windows() {
		return List.copyOf(this.windows);
	}

}
