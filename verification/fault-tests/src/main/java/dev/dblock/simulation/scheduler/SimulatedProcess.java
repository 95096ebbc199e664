package dev.dblock.simulation.scheduler;

/**
 * One of the processes that are simulated in this JVM, with its own clocks.
 */
public final class SimulatedProcess {

	private static final long WALL_START_MILLIS = 1_800_000_000_000L;

	private final String name;

	private final long startNanos;

	private final double clockRate;

	private long wallOffsetMillis;

	private long suspendedNanos;

	private boolean stopped;

	private boolean killed;

	private long troubledNanos;

	SimulatedProcess(String name, long startNanos, double clockRate) {
		this.name = name;
		this.startNanos = startNanos;
		this.clockRate = clockRate;
	}

	public String name() {
		return this.name;
	}

	/**
	 * Set whether no thread of this process runs for now. Its clocks continue.
	 */
	public void setStopped(boolean stopped) {
		this.stopped = stopped;
	}

	public boolean isStopped() {
		return this.stopped;
	}

	public boolean isKilled() {
		return this.killed;
	}

	void kill() {
		this.killed = true;
	}

	boolean isRunning() {
		return !this.stopped && !this.killed;
	}

	/**
	 * Record that this machine was suspended, so that its monotonic clock stood still.
	 */
	public void suspended(long nanos) {
		this.suspendedNanos += nanos;
	}

	/**
	 * Set the wall clock forward or back.
	 */
	public void stepWallClock(long millis) {
		this.wallOffsetMillis += millis;
	}

	/**
	 * Record something that may excuse that a lock was lost, or that a wait failed.
	 */
	public void troubled(long now) {
		this.troubledNanos = Math.max(this.troubledNanos, now);
	}

	public boolean isTroubledSince(long nanos) {
		return this.troubledNanos >= nanos || this.stopped;
	}

	long nanoTime(long now) {
		return this.startNanos + (long) ((now - this.startNanos - this.suspendedNanos) * this.clockRate);
	}

	long wallMillis(long now) {
		return WALL_START_MILLIS + now / 1_000_000 + this.wallOffsetMillis;
	}

	/**
	 * Return how much simulated time passes while the monotonic clock advances.
	 */
	long simulatedNanos(long nanos) {
		return (long) (nanos / this.clockRate);
	}

}
