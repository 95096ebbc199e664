package dev.dblock.core;

import java.time.Duration;

import dev.dblock.LossReason;

/**
 * How an engine is, at the moment of each question. Asks no server.
 */
public final class EngineState {

	private final LeaseRegistry registry;

	private final LocalQueues queues;

	private final LeaseStatistics statistics;

	private final LeaseWatchdog watchdog;

	private final ReleaseSignals signals;

	private final WaitStatistics waits;

	private final EngineThreads threads;

	EngineState(LeaseRegistry registry, LocalQueues queues, LeaseStatistics statistics, LeaseWatchdog watchdog,
			ReleaseSignals signals, WaitStatistics waits, EngineThreads threads) {
		this.registry = registry;
		this.queues = queues;
		this.statistics = statistics;
		this.watchdog = watchdog;
		this.signals = signals;
		this.waits = waits;
		this.threads = threads;
	}

	/**
	 * How many locks this process holds.
	 * @return the number
	 */
	public int held() {
		return this.registry.size();
	}

	/**
	 * How many threads of this process wait for a lock, those included that are about to
	 * ask for the first time.
	 * @return the number
	 */
	public int waiting() {
		return this.queues.waiters();
	}

	/**
	 * How many times a waiting thread tried to get its lock.
	 * @param cause what made it try
	 * @return the number since the start
	 */
	public long attempts(WaitCause cause) {
		return this.waits.of(cause);
	}

	/**
	 * How many leases were lost since the start.
	 * @param reason the reason to count
	 * @return the number
	 */
	public long lost(LossReason reason) {
		return this.statistics.lost(reason);
	}

	/**
	 * How many listeners and callbacks were called for a loss or a late renewal and have
	 * not returned. Each has a thread.
	 * @return the number
	 */
	public int callbacks() {
		return this.threads.runningCallbacks();
	}

	/**
	 * How many times a lease was renewed with less than a third of it left.
	 * @return the number since the start
	 */
	public long renewedLate() {
		return this.statistics.renewedLate();
	}

	/**
	 * How many times a lease was to be renewed by a request that failed. Each is tried
	 * again until the lease ends.
	 * @return the number since the start
	 */
	public long notRenewed() {
		return this.statistics.notRenewed();
	}

	/**
	 * By how much the watchdog is late with its next look at the leases.
	 * @return next to nothing while it is alive
	 */
	public Duration watchdogDelay() {
		return this.watchdog.delay();
	}

	/**
	 * How waiters learn of releases at present.
	 * @return the way
	 */
	public ReleaseNews releases() {
		return this.signals.state();
	}

	/**
	 * How waiters learn of releases.
	 */
	public enum ReleaseNews {

		/**
		 * Nobody waits for another process, so nothing is listened to.
		 */
		IDLE,
		/**
		 * The store tells of each release.
		 */
		STREAM,
		/**
		 * Waiters ask now and then.
		 */
		POLL

	}

}
