package dev.dblock.simulation.scheduler;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * Takes the place of the monitor of an object. If the JDK's own monitors were used, a
 * thread of the JDK would decide when a waiting thread continues.
 */
final class SimulatedMonitor {

	private @Nullable SimulatedThread owner;

	private int entries;

	private final List<SimulatedThread> waiting = new ArrayList<>();

	boolean tryEnter(SimulatedThread thread) {
		if (this.owner == null || this.owner == thread) {
			this.owner = thread;
			this.entries++;
			return true;
		}
		return false;
	}

	void await(SimulatedThread thread) {
		this.waiting.add(thread);
	}

	/**
	 * Leave the monitor once.
	 * @return the threads that can try to enter it
	 */
	List<SimulatedThread> leave(SimulatedThread thread) {
		if (this.owner != thread) {
			throw new IllegalMonitorStateException(thread + " leaves a monitor of " + this.owner);
		}
		return (--this.entries == 0) ? free() : List.of();
	}

	List<SimulatedThread> free() {
		this.owner = null;
		this.entries = 0;
		List<SimulatedThread> next = List.copyOf(this.waiting);
		this.waiting.clear();
		return next;
	}

	@Nullable SimulatedThread owner() {
		return this.owner;
	}

	boolean isUnused() {
		return this.owner == null && this.waiting.isEmpty();
	}

}
