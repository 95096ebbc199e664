package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockOptions;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.Lease.Grant;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.observation.LockObservations;
import dev.dblock.observation.LockObserver;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.LockRepository.AcquireAnswer;
import dev.dblock.transaction.LockTransactions;
import org.jspecify.annotations.Nullable;

import org.springframework.test.util.ReflectionTestUtils;

/**
 * Leases with a watchdog, of which nothing moves unless a test moves it.
 */
final class WatchedLeases {

	private final ManualClock clock = new ManualClock();

	private final InMemoryLockRepository repository = new InMemoryLockRepository(this.clock::serverMillis);

	private final LocalQueues queues = new LocalQueues(LockWorld.settings("").handOff(),
			LocalQueue.LONGEST_RELEASE_NANOS, (held) -> 0, this::nanosOfQueues);

	private final LeaseRegistry registry = new LeaseRegistry(this.queues::ended);

	private final RecordingListener listener = new RecordingListener();

	private final LeaseLosses losses = new LeaseLosses(this.registry, this.listener, Runnable::run, Runnable::run);

	private final ManualScheduler timer = new ManualScheduler();

	private final Line renewals = new Line();

	private final LeaseReleaser releaser = new LeaseReleaser(this.repository, new LockObservations(LockObserver.NONE),
			this.clock, LockWorld.TIMEOUT, this.timer, Runnable::run);

	private final LeaseWatchdog watchdog = new LeaseWatchdog(this.registry, this.losses, LeaseCompletion::abandon,
			this::newRenewer, this.timer, this.renewals, this.clock);

	private final LeaseKeeper keeper = new LeaseKeeper(this.repository, this.watchdog, this.registry, this.queues,
			newRenewer(), this.releaser, this.losses, this.listener, new LockTransactions(), this.clock,
			LockWorld.TIMEOUT);

	/** Whose locks are not taken for forgotten. */
	private final List<LeaseHandle> held = new ArrayList<>();

	private @Nullable Error brokenQueues;

	private long nanosOfQueues() {
		if (this.brokenQueues != null) {
			throw this.brokenQueues;
		}
		return System.nanoTime();
	}

	/**
	 * Let all calls of the queues fail.
	 */
	void breakQueuesWith(Error error) {
		this.brokenQueues = error;
	}

	LeaseRenewer newRenewer() {
		return new LeaseRenewer(this.repository, this.registry, this.queues, this.losses,
				new LockObservations(LockObserver.NONE), this.clock);
	}

	/**
	 * A lease that the store has granted, and that is not maintained yet.
	 */
	Lease grant(String name, LockOptions options) {
		LeaseTerms terms = LeaseTerms.of(options.orElse(LockWorld.DEFAULTS));
		LeaseKey key = new LeaseKey(name, "id-of-" + name);
		LeaseDeadline deadline = LeaseDeadline.from(this.clock, terms.lease());
		AcquireAnswer answer = this.repository
			.acquire(new AcquireRequest(key, terms.lease(), "me", "main", "test", LockWorld.TIMEOUT));
		AcquireAnswer.Granted granted = (AcquireAnswer.Granted) answer;
		Grant grant = new Grant(key, granted.token(), granted.lastToken(), granted.acquiredAt(), "test", false, null);
		return new Lease(grant, terms, Thread.currentThread(), deadline, this.clock);
	}

	LeaseHandle hold(String name, Duration lease) {
		LeaseHandle handle = this.keeper.keep(grant(name, LockOptions.lease(lease)));
		this.held.add(handle);
		return handle;
	}

	/**
	 * Let the watchdog take its next tick for one in an hour, so that any other tick is
	 * sooner. Ticks are planned by real time, and on a machine that stalls the next one
	 * may be due already.
	 */
	void postponeTick() {
		postponeTick(this.watchdog);
	}

	static void postponeTick(LeaseWatchdog watchdog) {
		ReflectionTestUtils.setField(watchdog, "nextTickNanos", System.nanoTime() + TimeUnit.HOURS.toNanos(1));
	}

	/**
	 * Let time pass and the watchdog check the leases.
	 */
	void advance(Duration time) {
		this.clock.advance(time);
		this.watchdog.tick();
	}

	/**
	 * Let time pass, the watchdog check the leases, and answer its requests.
	 */
	void advanceAndRenew(Duration time) {
		advance(time);
		this.renewals.serveAll();
	}

	int renewals(String name) {
		return this.repository.count(Kind.RENEW, name);
	}

	ManualClock clock() {
		return this.clock;
	}

	InMemoryLockRepository repository() {
		return this.repository;
	}

	LocalQueues queues() {
		return this.queues;
	}

	LeaseRegistry registry() {
		return this.registry;
	}

	LeaseLosses losses() {
		return this.losses;
	}

	ManualScheduler timer() {
		return this.timer;
	}

	Line line() {
		return this.renewals;
	}

	LeaseWatchdog watchdog() {
		return this.watchdog;
	}

	LeaseKeeper keeper() {
		return this.keeper;
	}

	List<String> news() {
		return this.listener.news();
	}

	/**
	 * Requests that were handed over, and are under way until a test serves them.
	 */
	static final class Line implements Executor {

		private final List<Runnable> waiting = new ArrayList<>();

		private @Nullable Error broken;

		private boolean full;

		@Override
		public void execute(Runnable command) {
			if (this.broken != null) {
				throw this.broken;
			}
			if (this.full) {
				throw new RejectedExecutionException("all threads are busy");
			}
			this.waiting.add(command);
		}

		void breakWith(@Nullable Error error) {
			this.broken = error;
		}

		void full(boolean full) {
			this.full = full;
		}

		int length() {
			return this.waiting.size();
		}

		void serve(int index) {
			this.waiting.remove(index).run();
		}

		void serveAll() {
			while (!this.waiting.isEmpty()) {
				serve(0);
			}
		}

	}

}
