package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeasedLock;
import dev.dblock.core.lease.LockClock;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.Waiter;
import dev.dblock.engine.LockEngine;
import dev.dblock.settings.LeaseTerms;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Hand-overs of a lock between threads of the process that coincide with other events.
 */
@Timeout(300)
class HandOverEndsTests {

	private static final LockOptions PATIENTLY = LockOptions.defaults().waitUpTo(Duration.ofDays(1));

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	@AfterEach
	void close() {
		this.world.close();
	}

	private LockHandle acquire() {
		return this.world.template().acquire("a");
	}

	private Worker<LockHandle> waitFor(LockOptions options) {
		return waitFor(this.world.engine(), options);
	}

	private static Worker<LockHandle> waitFor(DefaultLockEngine engine, LockOptions options) {
		Worker<LockHandle> worker = Worker.start(() -> handle(engine.acquire("a", options)));
		worker.awaitWaiting();
		return worker;
	}

	private static LockHandle handle(LockEngine.Attempt attempt) {
		assertThat(attempt).isInstanceOf(LockEngine.Granted.class);
		return ((LockEngine.Granted) attempt).handle();
	}

	@Test
	void listenersHearOfEachOwnerOnce() throws Exception {
		LockHandle first = acquire();
		Worker<LockHandle> next = waitFor(PATIENTLY);
		assertThat(first.release()).isTrue();
		LockHandle second = next.result();
		assertThat(second.release()).isTrue();
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
		assertThat(this.world.news()).containsExactlyInAnyOrder("acquired a", "released a", "acquired a", "released a");
	}

	@Test
	void aLockThatIsHandedToAThreadAfterASuspensionIsRequestedAgain() throws Exception {
		ManualClock clock = this.world.clock();
		AtomicReference<Thread> sleeper = new AtomicReference<>();
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""), new LockClock() {

			@Override
			public long nanoTime() {
				if (sleeper.compareAndSet(Thread.currentThread(), null)) {
					clock.suspend(Duration.ofHours(1));
				}
				return clock.nanoTime();
			}

			@Override
			public long wallMillis() {
				return clock.wallMillis();
			}

		});
		LockHandle first = handle(engine.acquire("a", LockOptions.defaults()));
		AtomicReference<Thread> thread = new AtomicReference<>();
		Worker<LockHandle> next = Worker.start(() -> {
			thread.set(Thread.currentThread());
			return handle(engine.acquire("a", PATIENTLY));
		});
		next.awaitWaiting();
		sleeper.set(thread.get());
		assertThat(first.release()).isTrue();
		LockHandle second = next.result();
		assertThat(sleeper.get()).as("it slept when it woke").isNull();
		assertThat(second.isHeld()).isTrue();
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(2);
		assertThat(second.token()).isGreaterThan(first.token() + 1);
	}

	@Test
	void aCallerThatRenewsManuallyIsNotHandedTheRestOfALease() throws Exception {
		LockHandle first = acquire();
		Worker<LockHandle> next = waitFor(PATIENTLY.autoRenew(false));
		this.world.clock().advance(Duration.ofSeconds(9));
		first.release();
		assertThat(next.result().remaining()).isEqualTo(LockWorld.LEASE);
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(2);
	}

	@Test
	void aLostLockIsNotHandedOver() throws Exception {
		LockHandle first = this.world.template().acquire("a", LockOptions.defaults().autoRenew(false));
		Worker<LockHandle> next = waitFor(PATIENTLY);
		this.world.clock().advance(LockWorld.LEASE);
		assertThat(first.release()).isFalse();
		LockWorld.eventually().until(() -> {
			this.world.clock().advance(Duration.ofMillis(2));
			return next.isDone();
		});
		assertThat(next.result().token()).isGreaterThan(first.token() + 1);
		LockWorld.eventually().until(() -> this.world.news().contains("lost a EXPIRED"));
		assertThat(this.world.news()).doesNotContain("released a");
	}

	@Test
	void aLossAfterTheHandOverInterruptsTheThreadThatHasTheLockThen() throws Exception {
		LockOptions interruptibly = LockOptions.defaults().whenLost(WhenLost.INTERRUPT);
		LockHandle first = this.world.template().acquire("a", interruptibly);
		CountDownLatch working = new CountDownLatch(1);
		Worker<Boolean> next = Worker
			.start(() -> this.world.template().execute("a", interruptibly.waitUpTo(Duration.ofDays(1)), () -> {
				working.countDown();
				return new CountDownLatch(1).await(1, TimeUnit.HOURS);
			}));
		next.awaitWaiting();
		first.release();
		working.await();
		this.world.rob("a");
		this.world.advance(Duration.ofSeconds(10));
		assertThat(next.failure()).isInstanceOf(LockLostException.class);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		LockWorld.eventually().untilAsserted(() -> assertThat(this.world.news()).containsOnlyOnce("lost a TAKEN_OVER"));
	}

	@Test
	void aLockThatATransactionKeepsIsHandedOverWhenThatHasCompleted() throws Exception {
		TransactionSynchronizationManager.initSynchronization();
		TransactionSynchronizationManager.setActualTransactionActive(true);
		Worker<LockHandle> next;
		List<TransactionSynchronization> kept;
		try {
			LockHandle first = acquire();
			next = waitFor(PATIENTLY);
			assertThat(first.release()).isTrue();
			kept = TransactionSynchronizationManager.getSynchronizations();
			next.awaitWaiting();
			assertThat(next.isDone()).isFalse();
			kept.forEach((one) -> one.afterCompletion(TransactionSynchronization.STATUS_COMMITTED));
		}
		finally {
			TransactionSynchronizationManager.clear();
		}
		assertThat(next.result().isHeld()).isTrue();
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
	}

	@Test
	void aShutdownHandsNothingOver() throws Exception {
		LockHandle first = acquire();
		Worker<LockHandle> next = waitFor(PATIENTLY);
		this.world.engine().close();
		assertThat(next.failure()).isInstanceOf(LockShutdownException.class);
		assertThat(first.release()).isFalse();
		assertThat(this.repository.isHeld("a")).isTrue();
		assertThat(this.world.news()).containsExactly("acquired a", "lost a SHUTDOWN");
	}

	@Test
	void aShutdownWaitsForAThreadThatHasNotYetSeenTheHandOver() throws Exception {
		Gate gate = new Gate();
		AtomicReference<Thread> held = new AtomicReference<>();
		AtomicReference<Thread> closer = new AtomicReference<>();
		long begun = System.nanoTime();
		AtomicLong ofCloser = new AtomicLong(begun);
		ManualClock clock = this.world.clock();
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""), new LockClock() {

			@Override
			public long nanoTime() {
				if (held.compareAndSet(Thread.currentThread(), null)) {
					gate.pass();
				}
				return clock.nanoTime();
			}

			/**
			 * For the thread that closes, the time for work to end is over at once, and
			 * that for requests never.
			 */
			@Override
			public long pauseNanos() {
				return (Thread.currentThread() != closer.get()) ? clock.pauseNanos()
						: ofCloser.getAndSet(begun + TimeUnit.SECONDS.toNanos(2));
			}

			@Override
			public long wallMillis() {
				return clock.wallMillis();
			}

		});
		LockHandle first = handle(engine.acquire("a", LockOptions.defaults()));
		AtomicReference<Thread> thread = new AtomicReference<>();
		Worker<LockHandle> next = Worker.start(() -> {
			thread.set(Thread.currentThread());
			return handle(engine.acquire("a", PATIENTLY));
		});
		next.awaitWaiting();
		held.set(thread.get());
		assertThat(first.release()).isTrue();
		gate.awaitReached();
		Worker<Boolean> closing = Worker.start(() -> {
			closer.set(Thread.currentThread());
			engine.close();
			return this.repository.isHeld("a");
		});
		LockWorld.eventually().until(() -> closing.isDone() || this.world.news().contains("lost a SHUTDOWN"));
		assertThat(closing.isDone()).isFalse();
		gate.open();
		assertThat(closing.result()).as("held when the engine is closed").isFalse();
		assertThat(next.failure()).isInstanceOf(LockShutdownException.class);
	}

	@Test
	void aHandOverThatCannotBeWatchedFreesTheName() {
		WatchedLeases leases = new WatchedLeases();
		LockOptions brief = LockOptions.lease(Duration.ofMillis(600));
		Lease lease = leases.grant("a", brief.autoRenew(false));
		LocalQueue queue = leases.queues().enter("a");
		queue.granted(lease, null);
		LeaseHandle handle = leases.keeper().keep(lease);
		queue.join(new Waiter(LeaseTerms.of(brief.orElse(LockWorld.DEFAULTS))));
		leases.postponeTick();
		leases.timer().breakWith(new OutOfMemoryError("scripted"));
		assertThatThrownBy(handle::release).isInstanceOf(OutOfMemoryError.class);
		assertThat(leases.repository().isHeld("a")).isFalse();
		assertThat(queue.holders()).isEmpty();
		assertThat(leases.registry().isEmpty()).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::ensureHeld);
	}

	@Test
	void aHandOverThatBreaksBeforeThereIsASuccessorFreesTheName() {
		HandOver handOver = new HandOver((leases) -> {
			throw new OutOfMemoryError("scripted");
		});
		assertThatThrownBy(handOver.handle::release).isInstanceOf(OutOfMemoryError.class);
		assertThat(handOver.leases.repository().isHeld("a")).isFalse();
		assertThat(handOver.queue.holders()).isEmpty();
		assertThat(handOver.leases.registry().isEmpty()).isTrue();
	}

	@Test
	void aLeaseThatARenewalFindsGoneDuringAHandOverIsLostToTheSuccessor() throws Exception {
		AtomicReference<Worker<Void>> renewal = new AtomicReference<>();
		HandOver handOver = new HandOver((leases) -> {
			renewal.set(Worker.start(() -> {
				leases.newRenewer().renew(List.copyOf(leases.registry().all()));
				return null;
			}));
			renewal.get().awaitDoneOrBlocked();
		});
		handOver.leases.repository().delete("a");
		assertThat(handOver.handle.release()).isTrue();
		renewal.get().result();
		LeasedLock second = Objects.requireNonNull(handOver.next.handed());
		assertThat(second.lease().end()).isEqualTo(LossReason.TAKEN_OVER);
		assertThat(handOver.handle.lease().end()).isEqualTo(LossReason.RELEASED);
		assertThat(handOver.leases.news()).containsExactlyInAnyOrder("released a", "lost a TAKEN_OVER");
		assertThat(handOver.leases.registry().isEmpty()).isTrue();
		assertThat(handOver.queue.holders()).isEmpty();
	}

	@Test
	void aHandOverThatBreaksBeforeItsLeaseHasEndedFreesTheName() {
		HandOver handOver = new HandOver((leases) -> {
		});
		handOver.leases.breakQueuesWith(new OutOfMemoryError("scripted"));
		assertThatThrownBy(handOver.handle::release).isInstanceOf(OutOfMemoryError.class);
		assertThat(handOver.leases.repository().isHeld("a")).isFalse();
		assertThat(handOver.leases.registry().isEmpty()).isTrue();
	}

	@Test
	void aLockWhoseReleaseFailsIsNotRenewed() {
		WatchedLeases leases = new WatchedLeases();
		LeaseHandle handle = leases.hold("a", LockWorld.LEASE);
		leases.breakQueuesWith(new OutOfMemoryError("scripted"));
		assertThatThrownBy(handle::release).isInstanceOf(OutOfMemoryError.class);
		assertThat(leases.registry().isEmpty()).isTrue();
		leases.advanceAndRenew(LockWorld.LEASE.dividedBy(3));
		assertThat(leases.renewals("a")).isZero();
	}

	/**
	 * A lock that is about to be handed over when its lease has ended and no other was
	 * granted yet.
	 */
	private static final class HandOver implements LockClock {

		private final WatchedLeases leases = new WatchedLeases();

		private final LocalQueue queue = this.leases.queues().enter("a");

		private final Waiter next = new Waiter(LeaseTerms.of(PATIENTLY.orElse(LockWorld.DEFAULTS)));

		private final AtomicReference<Consumer<WatchedLeases>> event = new AtomicReference<>();

		private final LeaseHandle handle;

		HandOver(Consumer<WatchedLeases> event) {
			Lease granted = this.leases.grant("a", LockOptions.defaults());
			Lease lease = new Lease(granted.grant(), granted.terms(), Thread.currentThread(), granted.deadline(), this);
			this.queue.granted(lease, null);
			this.handle = this.leases.keeper().keep(lease);
			this.queue.join(this.next);
			this.event.set(event);
		}

		@Override
		public long nanoTime() {
			if (this.event.get() != null && this.handle.lease().end() != null) {
				this.event.getAndSet(null).accept(this.leases);
			}
			return this.leases.clock().nanoTime();
		}

		@Override
		public long wallMillis() {
			return this.leases.clock().wallMillis();
		}

	}

}
