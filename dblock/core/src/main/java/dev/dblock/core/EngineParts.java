package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.BooleanSupplier;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.core.lease.LockClock;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.core.queue.PollPause.WaitCause;
import dev.dblock.engine.LockEngine;
import dev.dblock.event.LockListener;
import dev.dblock.observation.LockObservations;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.LockRepository;
import dev.dblock.support.CallThreads;
import dev.dblock.transaction.LockTransactions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates the parts of an engine, and shuts them down. None of them starts a thread
 * before the first lock is acquired.
 */
final class EngineParts {

	private static final Logger logger = LoggerFactory.getLogger(EngineParts.class);

	private static final Duration LONGEST_REQUEST = Duration.ofSeconds(5);

	/** How long work may take to end after its executor has interrupted it. */
	private static final Duration END_OF_WORK = Duration.ofSeconds(2);

	private static final Duration LOOK_AGAIN = Duration.ofMillis(1);

	private final EngineSettings settings;

	private final LockClock clock;

	private final EngineThreads threads;

	private final LockListeners listeners;

	private final LocalQueues queues;

	private final LeaseRegistry registry;

	private final LeaseLosses losses;

	private final LockTransactions transactions;

	private final LeaseKeeper keeper;

	private final ReleaseSignals signals;

	private final LockAcquirer acquirer;

	private final EngineState state;

	EngineParts(LockRepository repository, EngineSettings settings, Iterable<LockListener> listeners,
			LockObservations observations, LockTransactions transactions, LockClock clock,
			FeedUse.Patience feedPatience) {
		this.settings = settings;
		this.clock = clock;
		this.threads = new EngineThreads(clock);
		this.listeners = new LockListeners(listeners, this.threads.callbacks());
		this.queues = new LocalQueues(settings.handOff(), this::pollNanos, clock::pauseNanos);
		this.registry = new LeaseRegistry(this.queues::ended);
		this.losses = new LeaseLosses(this.registry, this.listeners, this.threads.notifications(),
				this.threads.callbacks());
		LeaseReleaser releaser = new LeaseReleaser(repository, observations, clock, settings.timeout(),
				this.threads.watchdog(), this.threads.releases());
		LeaseWatchdog watchdog = new LeaseWatchdog(this.registry, this.losses, LeaseCompletion::abandon,
				() -> newRenewer(repository, observations), this.threads.watchdog(), this.threads.renewals(), clock);
		this.keeper = new LeaseKeeper(repository, watchdog, this.registry, this.queues,
				newRenewer(repository, observations), releaser, this.losses, this.listeners, transactions, clock,
				settings.timeout());
		this.transactions = transactions;
		transactions.follow(repository, () -> this.registry.locksOf(Thread.currentThread()));
		this.signals = new ReleaseSignals(repository.releases(), settings.poll().always(), this.queues,
				this.threads.watchdog(), clock, feedPatience);
		Counts<WaitCause> waits = new Counts<>(WaitCause.class);
		LockRequests requests = new LockRequests(repository, settings.acquirer(), releaser, this.keeper, clock);
		this.acquirer = new LockAcquirer(requests, settings, this.queues, this.signals, this.keeper, waits, clock);
		this.state = new EngineState(this.registry, this.queues, this.losses.statistics(), watchdog, this.signals,
				waits, this.threads);
	}

	/**
	 * Other processes probably poll if this one has to, because they most likely have the
	 * same settings. They also do if the lock was held for so long that their feeds were
	 * closed.
	 */
	private long pollNanos(long heldNanos) {
		boolean polled = this.signals.isPolling() || this.signals.isClosedAfter(heldNanos);
		return polled ? this.settings.poll().maxInterval().toNanos() : 0;
	}

	private LeaseRenewer newRenewer(LockRepository repository, LockObservations observations) {
		return new LeaseRenewer(repository, this.registry, this.queues, this.losses, observations, this.clock);
	}

	LockTransactions transactions() {
		return this.transactions;
	}

	LockListeners listeners() {
		return this.listeners;
	}

	LocalQueues queues() {
		return this.queues;
	}

	ReleaseSignals signals() {
		return this.signals;
	}

	EngineState state() {
		return this.state;
	}

	/**
	 * Acquire a lock, see {@link LockAcquirer#acquire}.
	 */
	LockEngine.Attempt acquire(String fullName, LeaseTerms terms, LockObservations.Acquisition acquisition) {
		return this.acquirer.acquire(fullName, terms, acquisition);
	}

	/**
	 * Return a lock that a transaction still keeps, see
	 * {@link LockEngine#keptByTransaction}.
	 */
	Optional<LockHandle> kept(String fullName) {
		return this.transactions.kept(this.keeper, fullName);
	}

	Object id() {
		return this.keeper;
	}

	/**
	 * Return the stored state of a lock, with its present owner if this process holds it.
	 */
	LockInfo withOwner(LockInfo stored) {
		return this.queues.withOwner(stored);
	}

	void refuseWaiters() {
		this.acquirer.refuseWaiters();
	}

	/**
	 * Refuse all callers, release the locks that were kept until now, and report the loss
	 * of those that are still held. An executor that does not wait for its tasks has just
	 * interrupted them, so they get a moment to end.
	 */
	void close() {
		this.acquirer.close();
		releaseKept();
		long now = this.clock.pauseNanos();
		long end = now + LONGEST_REQUEST.toNanos();
		awaitNone(this::isAnyWorkEnding, now + END_OF_WORK.toNanos());
		awaitNone(this::isAnyAboutToBeReleased, end);
		this.losses.loseAtShutdown(List.copyOf(this.registry.all()));
		// Application threads may still be acquiring or releasing a lock, and the caller
		// closes their connection to the store next
		awaitNone(() -> this.queues.size() > 0, end);
		this.signals.close();
		this.threads.close();
	}

	/**
	 * Release the locks that were kept until now in threads of their own: those for
	 * releases may all be waiting for a server that was unreachable.
	 */
	private void releaseKept() {
		Queue<LeasedLock> kept = new ConcurrentLinkedQueue<>();
		for (Lease lease : this.registry.all()) {
			LeasedLock handle = lease.kept();
			if (handle != null) {
				lease.state().aboutToEnd();
				kept.add(handle);
			}
		}
		for (int i = Math.min(kept.size(), EngineThreads.MOST_RELEASES_AT_ONCE); i > 0; i--) {
			CallThreads.execute(() -> {
				for (LeasedLock next = kept.poll(); next != null; next = kept.poll()) {
					close(next);
				}
			});
		}
	}

	private static void close(LeasedLock handle) {
		try {
			handle.close();
		}
		catch (LockLostException ex) {
			logger.debug("The loss of the lock '{}' was reported", handle.name(), ex);
		}
	}

	private boolean isAnyWorkEnding() {
		return this.registry.all().stream().anyMatch((lease) -> lease.owner().endsBeside(Thread.currentThread()));
	}

	private boolean isAnyAboutToBeReleased() {
		return this.registry.all().stream().anyMatch((lease) -> lease.state().isAboutToEnd());
	}

	private void awaitNone(BooleanSupplier any, long end) {
		while (any.getAsBoolean() && end - this.clock.pauseNanos() > 0 && !Thread.currentThread().isInterrupted()) {
			this.clock.park(this, LOOK_AGAIN.toNanos());
		}
	}

}
