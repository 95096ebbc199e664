package dev.dblock.simulation;

import dev.dblock.LockHandle;
import dev.dblock.simulation.scheduler.SimulatedThread;
import dev.dblock.store.Permits;

/**
 * A handle, and what its section has seen of it.
 */
final class ObservedLock {

	private final Instance instance;

	private final SimulatedThread owner;

	private final LockHandle handle;

	/** That of its permit. Read only once, since methods of a handle can be stalled. */
	private final String name;

	private final long token;

	private int losses;

	/** Whether the shutdown is to release it, if it is still held then. */
	private boolean keeping;

	private boolean kept;

	/** When its section has begun to close it though another had it. */
	private long overtakenNanos = Long.MAX_VALUE;

	private boolean closed;

	private boolean closedAsLost;

	ObservedLock(Instance instance, SimulatedThread owner, LockHandle handle) {
		this.instance = instance;
		this.owner = owner;
		this.handle = handle;
		this.name = Permits.id(handle.name(), handle.permit());
		this.token = handle.token();
	}

	Instance instance() {
		return this.instance;
	}

	SimulatedThread owner() {
		return this.owner;
	}

	LockHandle handle() {
		return this.handle;
	}

	String name() {
		return this.name;
	}

	long token() {
		return this.token;
	}

	void lossReported() {
		this.losses++;
	}

	int losses() {
		return this.losses;
	}

	void keeping() {
		this.keeping = true;
	}

	/**
	 * Whether the shutdown releases it under its section, which is no loss.
	 */
	boolean isReleasedByShutdown() {
		return this.keeping && this.instance.isClosing();
	}

	void kept() {
		this.kept = true;
	}

	boolean isKept() {
		return this.kept;
	}

	void overtaken(long now) {
		this.overtakenNanos = now;
	}

	/**
	 * Whether its release has shown that another had it. A shutdown releases locks too.
	 */
	boolean isOvertaken() {
		return this.overtakenNanos < Long.MAX_VALUE && !this.kept && !this.instance.isClosing()
				&& !this.instance.process().isTroubledSince(this.overtakenNanos);
	}

	void closed(boolean asLost) {
		this.closed = true;
		this.closedAsLost = asLost;
	}

	boolean isClosed() {
		return this.closed;
	}

	boolean isClosedAsLost() {
		return this.closedAsLost;
	}

	@Override
	public String toString() {
		return this.owner.name() + " with token " + token() + " of '" + name() + "'";
	}

}
