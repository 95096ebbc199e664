package dev.dblock.simulation;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

import dev.dblock.simulation.scheduler.Scheduler;
import dev.dblock.simulation.scheduler.SimulatedThread;
import org.jspecify.annotations.Nullable;

/**
 * The events of a simulation: a hash of all, the last of them as text, and the broken
 * promises.
 */
final class Journal {

	private static final int KEPT_EVENTS = 60;

	private static final int SHOWN_VIOLATIONS = 3;

	private static final int SHOWN_THREADS = 6;

	private final Deque<Event> events = new ArrayDeque<>();

	private final Map<String, Integer> counts = new TreeMap<>();

	private final List<String> violations = new ArrayList<>();

	private final boolean traced;

	private @Nullable Scheduler scheduler;

	private long hash = 17;

	Journal(boolean traced) {
		this.traced = traced;
	}

	Scheduler newScheduler(long seed) {
		Scheduler created = new Scheduler(seed,
				(thread, ex) -> violation(thread + " ended by " + ex + " at " + List.of(ex.getStackTrace()), thread),
				this.traced ? this::trace : null);
		this.scheduler = created;
		return created;
	}

	private Scheduler scheduler() {
		if (this.scheduler == null) {
			throw new IllegalStateException("The scheduler is created first");
		}
		return this.scheduler;
	}

	private void trace(SimulatedThread thread, String place) {
		System.out.println(Scheduler.readable(scheduler().now()) + "  " + thread + " continues at " + place);
	}

	/**
	 * Record an event.
	 */
	void add(String event) {
		long now = scheduler().now();
		this.hash = (this.hash * 31 + event.hashCode()) * 31 + now;
		Event added = new Event(now, event);
		if (this.traced) {
			System.out.println(added);
		}
		this.events.add(added);
		if (this.events.size() > KEPT_EVENTS) {
			this.events.remove();
		}
	}

	void count(String what) {
		this.counts.merge(what, 1, Integer::sum);
	}

	/**
	 * Record a broken promise. The first ones are printed, with the last events and the
	 * last steps of the threads involved.
	 */
	void violation(String what, SimulatedThread... involved) {
		if (this.violations.contains(what)) {
			return;
		}
		add("VIOLATION: " + what);
		this.violations.add(what);
		if (this.violations.size() > SHOWN_VIOLATIONS) {
			return;
		}
		System.out.println("VIOLATION at " + Scheduler.readable(scheduler().now()) + " s: " + what);
		System.out.println("  Last events:");
		this.events.forEach((event) -> System.out.println("    " + event));
		Set<SimulatedThread> threads = new LinkedHashSet<>(List.of(involved));
		threads.stream().limit(SHOWN_THREADS).forEach((thread) -> {
			System.out.println("  Last steps of " + thread + ":");
			thread.lastSteps().forEach((step) -> System.out.println("    " + step));
		});
	}

	List<String> violations() {
		return this.violations;
	}

	Map<String, Integer> counts() {
		return this.counts;
	}

	/**
	 * Return the number that is the same whenever all steps and all events are.
	 */
	long hash() {
		return this.hash * 31 + scheduler().hash();
	}

	/**
	 * An event and its time.
	 */
	private record Event(long nanos, String what) {

		@Override
		public String toString() {
			return Scheduler.readable(this.nanos) + "  " + this.what;
		}

	}

}
