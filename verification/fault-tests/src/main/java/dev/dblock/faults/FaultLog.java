package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Log of faults with their times.
 */
final class FaultLog {

	private final long startNanos = System.nanoTime();

	private final List<Window> windows = new ArrayList<>();

	/**
	 * Log a fault that is over.
	 * @param kind the kind of the fault
	 * @param worker the number of the affected worker; zero if the servers were affected
	 * @param beginNanos when it began
	 */
	synchronized void add(String kind, int worker, long beginNanos) {
		add(kind, worker, beginNanos, Duration.ZERO);
	}

	/**
	 * Log a fault whose effects continue for a while.
	 */
	synchronized void add(String kind, int worker, long beginNanos, Duration after) {
		add(new Window(kind, worker, beginNanos, System.nanoTime() + after.toNanos()));
	}

	/**
	 * Log an observation with its time.
	 */
	synchronized void addSeen(String kind, long beginNanos, long endNanos) {
		add(new Window(kind, 0, beginNanos, endNanos));
	}

	/**
	 * Log that another member has become primary while a fault continues. Such an entry
	 * is reported, and excuses nothing.
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
