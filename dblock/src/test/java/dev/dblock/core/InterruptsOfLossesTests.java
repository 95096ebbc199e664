package dev.dblock.core;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Lock;
import java.util.function.Consumer;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.core.Request.Kind;
import dev.dblock.store.LeaseKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Interrupts that signal a loss, beside those that other code sends to the same thread.
 */
@Timeout(120)
class InterruptsOfLossesTests {

	private static final LockOptions INTERRUPTING = LockOptions.defaults()
		.autoRenew(false)
		.whenLost(WhenLost.INTERRUPT);

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	@AfterEach
	void close() {
		this.repository.heal();
		this.world.close();
	}

	/**
	 * A thread that was never notified of a loss.
	 */
	private static void inAThreadOfItsOwn(Runnable test) throws Exception {
		boolean unused = Worker.start(() -> {
			test.run();
			return true;
		}).result();
	}

	private static LeaseHandle lease(LockHandle handle) {
		return (LeaseHandle) handle;
	}

	@Test
	void aForeignInterruptOutlivesALossDuringTheReleaseOfANestedLock() throws Exception {
		inAThreadOfItsOwn(() -> {
			LockHandle outer = this.world.template().acquire("outer", INTERRUPTING);
			LockHandle inner = this.world.template().acquire("inner");
			this.repository.next(Kind.RELEASE,
					Fault.after(() -> lease(outer).lose(LossReason.EXPIRED, "scripted, while inner is given back")));
			Thread.currentThread().interrupt();
			assertThat(inner.release()).isTrue();
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::close);
			assertThat(Thread.currentThread().isInterrupted()).as("the foreign interrupt").isTrue();
		});
	}

	@Test
	void theWorkAroundIsInterruptedThoughAReleaseInsideHadPutItsInterruptAside() throws Exception {
		inAThreadOfItsOwn(() -> {
			LockHandle around = this.world.template().acquire("around", INTERRUPTING);
			LockHandle outer = this.world.template().acquire("outer", INTERRUPTING);
			LockHandle inner = this.world.template().acquire("inner");
			lease(around).lose(LossReason.EXPIRED, "scripted, before inner is given back");
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
			this.repository.next(Kind.RELEASE,
					Fault.after(() -> lease(outer).lose(LossReason.EXPIRED, "scripted, while inner is given back")));
			assertThat(inner.release()).isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(outer::close);
			assertThat(Thread.currentThread().isInterrupted()).as("the outer work was not interrupted yet").isTrue();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(around::close);
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
		});
	}

	@Test
	void aForeignInterruptOutlivesALossWhileLockWaits() throws Exception {
		LeaseKey other = this.world.seize("inner", LockWorld.LEASE);
		CountDownLatch working = new CountDownLatch(1);
		AtomicBoolean afterInner = new AtomicBoolean();
		LockHandle[] outer = new LockHandle[1];
		Worker<Boolean> worker = Worker.start(() -> {
			outer[0] = this.world.template().acquire("outer", INTERRUPTING);
			Lock lock = this.world.template().asLock("inner");
			working.countDown();
			lock.lock();
			afterInner.set(Thread.currentThread().isInterrupted());
			lock.unlock();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(outer[0]::close);
			return Thread.currentThread().isInterrupted();
		});
		working.await();
		worker.awaitWaiting();
		worker.interrupt();
		int before = this.repository.count(Kind.ACQUIRE);
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE) > before + 3);
		lease(outer[0]).lose(LossReason.EXPIRED, "scripted, while it waits for inner");
		int then = this.repository.count(Kind.ACQUIRE);
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE) > then + 3);
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
		boolean interrupted = worker.result();
		assertThat(afterInner).isTrue();
		assertThat(interrupted).as("the foreign interrupt").isTrue();
	}

	private boolean interruptsInATransaction(Consumer<Runnable> reentered) throws Exception {
		ScriptedTransactions transactions = new ScriptedTransactions();
		CountDownLatch working = new CountDownLatch(1);
		AtomicBoolean interrupted = new AtomicBoolean();
		Worker<Boolean> worker = Worker.start(() -> {
			assertThatExceptionOfType(RuntimeException.class)
				.isThrownBy(() -> new TransactionTemplate(transactions).executeWithoutResult((status) -> {
					this.world.template().execute("a", INTERRUPTING, () -> {
					});
					reentered.accept(() -> {
						working.countDown();
						try {
							new CountDownLatch(1).await(60, TimeUnit.SECONDS);
						}
						catch (InterruptedException ex) {
							interrupted.set(true);
						}
					});
				}));
			return Thread.currentThread().isInterrupted();
		});
		working.await();
		this.world.advance(LockWorld.LEASE);
		LockWorld.eventually().until(() -> this.world.news().contains("lost a EXPIRED"));
		assertThat(worker.result()).as("an interrupt that stays behind").isFalse();
		return interrupted.get();
	}

	@Test
	void workThatReentersWhatATransactionKeepsIsInterrupted() throws Exception {
		assertThat(interruptsInATransaction((work) -> this.world.template().execute("a", INTERRUPTING, work::run)))
			.isTrue();
	}

	@Test
	void workUnderSeveralLocksOfWhichATransactionKeepsOneIsInterrupted() throws Exception {
		Map<String, LockOptions> both = Map.of("a", INTERRUPTING, "b", LockOptions.lease(Duration.ofHours(1)));
		assertThat(interruptsInATransaction((work) -> this.world.template().executeAll(both, work::run))).isTrue();
	}

	@Test
	void aThreadThatLocksWhatATransactionKeepsIsInterrupted() throws Exception {
		Lock lock = this.world.template().asLock("a", INTERRUPTING);
		assertThat(interruptsInATransaction((work) -> {
			lock.lock();
			try {
				work.run();
			}
			finally {
				lock.unlock();
			}
		})).isTrue();
	}

	@Test
	void interruptOfALossDoesNotReachTheNextGrantOfLock() throws Exception {
		inAThreadOfItsOwn(() -> {
			Lock lock = this.world.template().asLock("a", INTERRUPTING);
			lock.lock();
			LockHandle first = LockContext.current("a").orElseThrow();
			lease(first).lose(LossReason.EXPIRED, "scripted");
			this.repository.forceReleaseNow("a");
			assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::lock);
			lock.lock();
			assertThat(LockContext.current("a").orElseThrow().token()).isGreaterThan(first.token());
			boolean stale = Thread.interrupted();
			lock.unlock();
			assertThat(stale).as("interrupt of the lost lock in the work under the new one").isFalse();
		});
	}

}
