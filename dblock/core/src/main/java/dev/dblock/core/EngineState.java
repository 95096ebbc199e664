package dev.dblock.core;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToLongFunction;

import dev.dblock.LossReason;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.core.queue.PollPause.WaitCause;

/**
 * The current state of an engine, determined at each call without a request to a server.
 */
public final class EngineState {

	private final LeaseRegistry registry;

	private final LocalQueues queues;

	private final LeaseLosses.Statistics statistics;

	private final LeaseWatchdog watchdog;

	private final ReleaseSignals signals;

	private final Counts<WaitCause> waits;

	private final EngineThreads threads;

	EngineState(LeaseRegistry registry, LocalQueues queues, LeaseLosses.Statistics statistics, LeaseWatchdog watchdog,
			ReleaseSignals signals, Counts<WaitCause> waits, EngineThreads threads) {
		this.registry = registry;
		this.queues = queues;
		this.statistics = statistics;
		this.watchdog = watchdog;
		this.signals = signals;
		this.waits = waits;
		this.threads = threads;
	}

	/**
	 * Return how many locks this process holds.
	 * @return the number
	 */
	public int held() {
		return this.registry.size();
	}

	/**
	 * Return how many threads of this process wait for a lock, including those that are
	 * about to send their first request.
	 * @return the number
	 */
	public int waiting() {
		return this.queues.waiters();
	}

	/**
	 * Return how many times waiting threads tried to acquire their locks, by the cause of
	 * the attempt.
	 * @return reads the number since the start; for each cause, in lower case
	 */
	public static Map<String, ToLongFunction<EngineState>> attempts() {
		Map<String, ToLongFunction<EngineState>> attempts = new LinkedHashMap<>();
		for (WaitCause cause : WaitCause.values()) {
			attempts.put(cause.name().toLowerCase(Locale.ROOT), (state) -> state.attempts(cause));
		}
		return attempts;
	}

	long attempts(WaitCause cause) {
		return this.waits.of(cause);
	}

	/**
	 * Return how many leases were lost since the start.
	 * @param reason the reason to count
	 * @return the number
	 */
	public long lost(LossReason reason) {
		return this.statistics.lost().of(reason);
	}

	/**
	 * Return how many listeners and callbacks were called for a loss or a late renewal
	 * and have not returned. Each has its own thread.
	 * @return the number
	 */
	public int callbacks() {
		return this.threads.runningCallbacks();
	}

	/**
	 * Return how many times a lease was renewed with less than a third of it left.
	 * @return the number since the start
	 */
	public long renewedLate() {
		return this.statistics.renewedLate().sum();
	}

	/**
	 * Return how many lease renewals failed because their request failed. Each renewal is
	 * retried until the lease ends.
	 * @return the number since the start
	 */
	public long notRenewed() {
		return this.statistics.notRenewed().sum();
	}

	/**
	 * Return by how much the watchdog's next check of the leases is overdue.
	 * @return close to zero while the watchdog is alive
	 */
	public Duration watchdogDelay() {
		return this.watchdog.delay();
	}

	/**
	 * Return how waiters learn of releases at present.
	 * @return the way
	 */
	public ReleaseNews releases() {
		if (this.signals.isListening()) {
			return ReleaseNews.STREAM;
		}
		return this.signals.areWanted() ? ReleaseNews.POLL : ReleaseNews.IDLE;
	}

	/**
	 * The ways in which waiters learn of releases.
	 */
	public enum ReleaseNews {

		/**
		 * No thread waits for another process, so the engine does not listen to releases.
		 */
		IDLE,
		/**
		 * The store reports each release.
		 */
		STREAM,
		/**
		 * Waiters poll the store.
		 */
		POLL

	}

}
