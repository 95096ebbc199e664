package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RunnableScheduledFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import dev.dblock.LockHandle;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.Lease.Grant;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.observation.LockObservations;
import dev.dblock.observation.LockObserver;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.LeaseKey;
import dev.dblock.transaction.LockTransactions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LeaseWatchdogTickTests {

	private final ManualClock clock = new ManualClock();

	private final Timer timer = new Timer();

	private final LeaseRegistry registry = new LeaseRegistry((lease) -> {
	});

	private final LockListeners listeners = new LockListeners(List.of(), Runnable::run);

	private final LeaseLosses losses = new LeaseLosses(this.registry, this.listeners, Runnable::run, Runnable::run);

	private final LeaseWatchdog watchdog = new LeaseWatchdog(this.registry, this.losses, (lease) -> {
	}, () -> {
		throw new AssertionError("Nothing is due");
	}, this.timer, Runnable::run, this.clock);

	private final List<LockHandle> handles = new ArrayList<>();

	@AfterEach
	void tearDown() {
		this.timer.shutdownNow();
	}

	@Test
	void oneThatBeginsWhileASoonerOneTakesItsPlaceDoesNotMultiplyThem() {
		this.watchdog.watch(lease());
		assertThat(this.timer.waiting).hasSize(1);
		for (int i = 0; i < 5; i++) {
			this.timer.tooLateToCancel = true;
			this.watchdog.tickWithin(0);
			while (this.timer.waiting.size() < 2) {
				// The planned one was due already, so that no sooner one was needed
				this.timer.runAll();
				this.watchdog.tickWithin(0);
			}
			this.timer.tooLateToCancel = false;
			this.timer.runAll();
			assertThat(this.timer.waiting).as("planned ticks after round " + i).hasSize(1);
		}
	}

	@Test
	void continueAfterATimerThatCouldNotTakeOne() {
		this.watchdog.watch(lease());
		WatchedLeases.postponeTick(this.watchdog);
		this.timer.broken = true;
		assertThatExceptionOfType(OutOfMemoryError.class).isThrownBy(() -> this.watchdog.tickWithin(0));
		this.timer.broken = false;
		this.watchdog.watch(lease());
		assertThat(this.timer.waiting).hasSize(1);
	}

	private Lease lease() {
		LeaseTerms terms = LeaseTerms.of(LockWorld.DEFAULTS);
		Grant grant = new Grant(new LeaseKey("name", "id-" + this.handles.size()), 1, 2, Instant.EPOCH, "test", false,
				null);
		Lease lease = new Lease(grant, terms, Thread.currentThread(),
				LeaseDeadline.from(this.clock, Duration.ofSeconds(30)), this.clock);
		LeaseHandle handle = new LeaseHandle(lease, keeper());
		lease.attach(handle);
		this.handles.add(handle);
		return lease;
	}

	private LeaseKeeper keeper() {
		LeaseReleaser releaser = new LeaseReleaser(new InMemoryLockRepository(this.clock::serverMillis),
				new LockObservations(LockObserver.NONE), this.clock, LockWorld.TIMEOUT, this.timer, Runnable::run);
		LocalQueues queues = new LocalQueues(new EngineSettings.HandOff(0, Duration.ZERO), (held) -> 0,
				System::nanoTime);
		return new LeaseKeeper(new InMemoryLockRepository(this.clock::serverMillis), this.watchdog, this.registry,
				queues,
				new LeaseRenewer(new InMemoryLockRepository(this.clock::serverMillis), this.registry, queues,
						this.losses, new LockObservations(LockObserver.NONE), this.clock),
				releaser, this.losses, this.listeners, new LockTransactions(), this.clock, LockWorld.TIMEOUT);
	}

	/**
	 * A timer that is advanced manually.
	 */
	private static final class Timer extends ScheduledThreadPoolExecutor {

		private final List<RunnableScheduledFuture<?>> waiting = new ArrayList<>();

		private boolean tooLateToCancel;

		private boolean broken;

		Timer() {
			super(1);
		}

		@Override
		public ScheduledFuture<?> schedule(Runnable command, long delay, TimeUnit unit) {
			if (this.broken) {
				throw new OutOfMemoryError("scripted: no more threads");
			}
			Planned planned = new Planned(command);
			this.waiting.add(planned);
			return planned;
		}

		void runAll() {
			List<RunnableScheduledFuture<?>> due = List.copyOf(this.waiting);
			this.waiting.clear();
			due.forEach(Runnable::run);
		}

		private final class Planned extends java.util.concurrent.FutureTask<Object>
				implements RunnableScheduledFuture<Object> {

			Planned(Runnable command) {
				super(command, "");
			}

			@Override
			public boolean cancel(boolean mayInterruptIfRunning) {
				return !Timer.this.tooLateToCancel && Timer.this.waiting.remove(this)
						&& super.cancel(mayInterruptIfRunning);
			}

			@Override
			public boolean isPeriodic() {
				return false;
			}

			@Override
			public long getDelay(TimeUnit unit) {
				return 0;
			}

			@Override
			public int compareTo(java.util.concurrent.Delayed other) {
				return 0;
			}

		}

	}

}
