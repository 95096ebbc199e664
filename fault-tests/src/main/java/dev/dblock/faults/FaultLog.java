package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

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
		add(kind, worker, beginNanos, Duration.ZERO);
	}

	/**
	 * A fault of which something goes on for a while.
	 */
	synchronized void add(String kind, int worker, long beginNanos, Duration after) {
		add(new Window(kind, worker, beginNanos, System.nanoTime() + after.toNanos()));
	}

	/**
	 * Something was seen, and when.
	 */
	synchronized void addSeen(String kind, long beginNanos, long endNanos) {
		add(new Window(kind, 0, beginNanos, endNanos));
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
		System.err.printf(Locale.ROOT, "%4d s  %-36s %-8s %,6d ms%n",
				(window.beginNanos() - this.startNanos) / 1_000_000_000, window.kind(),
				(window.worker() > 0) ? "worker " + window.worker() : "servers",
				(window.endNanos() - window.beginNanos()) / 1_000_000);
	}

	synchronized List<Window> windows() {
		return List.copyOf(this.windows);
	}

}
