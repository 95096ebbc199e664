package dev.dblock.core;

import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LockTemplate;
import dev.dblock.core.Request.Kind;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.store.LeaseKey;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.dao.DataAccessResourceFailureException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@Timeout(300)
class LockViewTests {

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final DefaultLockTemplate locks = this.world.template();

	private final Lock lock = this.locks.asLock("a");

	@AfterEach
	void close() {
		this.repository.heal();
		while (LockContext.current("a").isPresent()) {
			this.lock.unlock();
		}
		this.world.close();
	}

	private boolean isHeld() {
		return this.repository.isHeld("a");
	}

	/**
	 * Let the holder notice that it has lost the lock.
	 */
	private void lose() {
		LockHandle handle = LockContext.current("a").orElseThrow();
		this.world.rob("a");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew);
	}

	private void freeAgain() {
		this.repository.forceReleaseNow("a");
	}

	private void assertUnlockReportsTheLoss() {
		assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(this.lock::unlock)
			.withMessageContaining("'a'");
	}

	private void assertNotOwned() {
		assertThatExceptionOfType(IllegalMonitorStateException.class).isThrownBy(this.lock::unlock)
			.withMessageContaining("'a'")
			.withMessageContaining("does not own it");
	}

	@Test
	void isHeldFromLockToUnlock() {
		this.lock.lock();
		assertThat(isHeld()).isTrue();
		assertThat(LockContext.current("a").orElseThrow().token()).isPositive();
		assertThat(this.lock).asString().contains("'a'", "fencing token");
		this.lock.unlock();
		assertThat(isHeld()).isFalse();
		assertThat(LockContext.current("a")).isEmpty();
		assertThat(this.lock).asString().contains("'a'", "not locked by this thread");
	}

	@Test
	void isReentrantInItsThread() throws Exception {
		this.lock.lock();
		this.lock.lockInterruptibly();
		assertThat(this.lock.tryLock()).isTrue();
		assertThat(this.locks.asLock("a").tryLock(1, TimeUnit.HOURS)).isTrue();
		for (int i = 0; i < 3; i++) {
			this.lock.unlock();
			assertThat(isHeld()).isTrue();
		}
		this.locks.asLock("a").unlock();
		assertThat(isHeld()).isFalse();
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
		assertNotOwned();
	}

	@Test
	void isOneLockHoweverOftenItIsMade() {
		assertThat(this.locks.asLock("a")).isEqualTo(this.lock).hasSameHashCodeAs(this.lock);
		assertThat(new DefaultLockTemplate(this.locks.engine()).asLock("a", LockOptions.lease(Duration.ofSeconds(9))))
			.isEqualTo(this.lock);
		assertThat(this.locks.asLock("b")).isNotEqualTo(this.lock);
		assertThat(this.world.anotherProcess().asLock("a")).isNotEqualTo(this.lock);
		assertThat(this.lock).isNotEqualTo("a");
	}

	@Test
	void worksTogetherWithExecute() {
		this.lock.lock();
		long token = LockContext.current("a").orElseThrow().token();
		this.locks.execute("a", () -> {
			assertThat(LockContext.current().orElseThrow().token()).isEqualTo(token);
			this.locks.executeAll(List.of("a"), () -> assertThat(this.lock.tryLock()).isTrue());
			this.lock.unlock();
		});
		assertThat(isHeld()).isTrue();
		this.lock.unlock();
		assertThat(isHeld()).isFalse();
		this.locks.execute("a", () -> {
			this.lock.lock();
			this.lock.unlock();
			assertThat(isHeld()).as("what execute acquired").isTrue();
			assertNotOwned();
		});
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aThreadThatHoldsTheLockManuallyDoesNotWaitForItself() throws Exception {
		LockHandle handle = this.locks.acquire("a", LockOptions.defaults().why("the outer work"));
		assertThatIllegalStateException().isThrownBy(this.lock::lock)
			.withMessageContaining("The lock 'a' is not available: held by host-1:4711:k7")
			.withMessageContaining("for the outer work")
			.withMessageContaining("LockTemplate.within(handle, ...)");
		assertThatIllegalStateException().isThrownBy(this.lock::lockInterruptibly);
		assertThat(this.lock.tryLock()).isFalse();
		assertThat(this.lock.tryLock(0, TimeUnit.SECONDS)).isFalse();
		assertThat(this.lock.tryLock(1, TimeUnit.DAYS)).isFalse();
		this.locks.<Void>within(handle, () -> {
			this.lock.lock();
			this.lock.lockInterruptibly();
			this.lock.unlock();
			this.lock.unlock();
			return null;
		});
		assertNotOwned();
		assertThat(handle.isHeld()).isTrue();
		this.locks.asLock("b").lock();
		this.locks.asLock("b").unlock();
		handle.close();
		this.lock.lock();
		this.lock.unlock();
	}

	@Test
	void aHandleThatWasLostIsNotInTheWay() {
		LockHandle handle = this.locks.acquire("a");
		this.world.rob("a");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew);
		freeAgain();
		this.lock.lock();
		assertThat(isHeld()).isTrue();
		this.lock.unlock();
	}

	@Test
	void aLockThatAnotherThreadHoldsManuallyIsWaitedFor() throws Exception {
		LockHandle handle = this.locks.acquire("a");
		Worker<Boolean> worker = Worker.start(() -> {
			this.lock.lock();
			this.lock.unlock();
			return true;
		});
		worker.awaitWaiting();
		assertThat(worker.isDone()).isFalse();
		handle.close();
		assertThat(worker.result()).isTrue();
	}

	@Test
	void isTakenInAnotherThread() throws Exception {
		this.lock.lock();
		assertThat(Worker.start(() -> this.lock.tryLock()).result()).isFalse();
		assertThat(Worker.start(() -> this.lock.tryLock(0, TimeUnit.MILLISECONDS)).result()).isFalse();
		assertThat(Worker.start(() -> {
			this.lock.unlock();
			return null;
		}).failure()).isInstanceOf(IllegalMonitorStateException.class);
		assertThat(isHeld()).isTrue();
		this.lock.unlock();
	}

	@Test
	void isTakenInAnotherProcess() {
		this.lock.lock();
		Lock there = this.world.anotherProcess().asLock("a");
		assertThat(there.tryLock()).isFalse();
		this.lock.unlock();
		assertThat(there.tryLock()).isTrue();
		there.unlock();
	}

	@Test
	void waitsAsLongAsItTakes() throws Exception {
		LeaseKey other = this.world.seize("a", LockWorld.LEASE);
		Worker<Boolean> worker = Worker.start(() -> {
			this.lock.lock();
			boolean held = isHeld();
			this.lock.unlock();
			return held;
		});
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE) > 2);
		assertThat(worker.isDone()).isFalse();
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
		assertThat(worker.result()).isTrue();
	}

	@Test
	void lockIsNotInterrupted() throws Exception {
		LeaseKey other = this.world.seize("a", LockWorld.LEASE);
		Worker<Boolean> worker = Worker.start(() -> {
			this.lock.lock();
			this.lock.unlock();
			return true;
		});
		worker.awaitWaiting();
		worker.interrupt();
		int before = this.repository.count(Kind.ACQUIRE);
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE) > before + 1);
		assertThat(worker.isDone()).isFalse();
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
		assertThat(worker.result()).isTrue();
		assertThat(worker.isInterruptedAfterwards()).isTrue();
	}

	@Test
	void tryLockOfAnInterruptedThreadIsAnswered() throws Exception {
		Worker<Boolean> worker = Worker.start(() -> {
			Thread.currentThread().interrupt();
			boolean locked = this.lock.tryLock();
			assertThat(Thread.currentThread().isInterrupted()).isTrue();
			this.lock.unlock();
			return locked;
		});
		assertThat(worker.result()).isTrue();
		assertThat(worker.isInterruptedAfterwards()).isTrue();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void theInterruptibleOnesAreInterrupted() throws Exception {
		this.world.seize("a", LockWorld.LEASE);
		Worker<Boolean> interruptibly = Worker.start(() -> {
			this.lock.lockInterruptibly();
			return true;
		});
		Worker<Boolean> timed = Worker.start(() -> this.lock.tryLock(1, TimeUnit.HOURS));
		interruptibly.awaitWaiting();
		timed.awaitWaiting();
		interruptibly.interrupt();
		timed.interrupt();
		assertThat(interruptibly.failure()).isInstanceOf(InterruptedException.class);
		assertThat(timed.failure()).isInstanceOf(InterruptedException.class);
		assertThat(interruptibly.isInterruptedAfterwards()).isFalse();
		assertThat(Worker.start(() -> {
			Thread.currentThread().interrupt();
			return this.lock.tryLock(0, TimeUnit.SECONDS);
		}).failure()).isInstanceOf(InterruptedException.class);
	}

	@Test
	void unlockOfALostLeaseReportsIt() {
		this.lock.lock();
		lose();
		assertThatExceptionOfType(ConcurrentModificationException.class).isThrownBy(this.lock::unlock)
			.withMessageContaining("'a'")
			.withCauseInstanceOf(LockLostException.class);
		assertNotOwned();
		assertThat(isHeld()).as("the successor's").isTrue();
	}

	@Test
	void unlockOfALeaseThatEndedUnnoticedReportsIt() {
		this.lock.lock();
		this.world.rob("a");
		assertUnlockReportsTheLoss();
		assertNotOwned();
	}

	@Test
	void everyUnlockOfALostLeaseReportsIt() {
		this.lock.lock();
		this.lock.lock();
		lose();
		assertUnlockReportsTheLoss();
		assertUnlockReportsTheLoss();
		assertNotOwned();
	}

	@Test
	void aLostLeaseIsNotReentered() throws Exception {
		this.lock.lock();
		lose();
		assertThat(this.lock.tryLock()).isFalse();
		assertUnlockReportsTheLoss();
		freeAgain();
		this.lock.lock();
		lose();
		assertThat(this.lock.tryLock(1, TimeUnit.HOURS)).isFalse();
		assertUnlockReportsTheLoss();
		freeAgain();
		this.lock.lock();
		lose();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.lock::lock);
		assertUnlockReportsTheLoss();
		freeAgain();
		this.lock.lock();
		lose();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.lock::lockInterruptibly);
		assertUnlockReportsTheLoss();
		assertNotOwned();
	}

	@Test
	void aThreadThatKnowsOfItsLossCanLockAgain() {
		this.lock.lock();
		this.lock.lock();
		lose();
		assertThat(this.lock.tryLock()).as("loss already reported").isFalse();
		assertThat(LockContext.current("a")).isEmpty();
		assertThat(this.lock.tryLock()).as("held by another").isFalse();
		freeAgain();
		assertThat(this.lock.tryLock()).as("anew").isTrue();
		assertThat(this.lock.tryLock()).isTrue();
		this.lock.unlock();
		this.lock.unlock();
		assertThat(isHeld()).isFalse();
		assertUnlockReportsTheLoss();
		assertUnlockReportsTheLoss();
		assertNotOwned();
	}

	@Test
	void aLockThatWasLostOverAndOverAndNeverUnlockedCanStillBeTaken() {
		for (int i = 0; i < 3; i++) {
			assertThat(this.lock.tryLock()).isTrue();
			lose();
			assertThat(this.lock.tryLock()).isFalse();
			freeAgain();
		}
		assertThat(this.lock.tryLock()).isTrue();
		this.lock.unlock();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void aLockOfExecuteThatWasLostIsNotReentered() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.execute("a", () -> {
			lose();
			assertThat(this.lock.tryLock()).isFalse();
			assertThat(this.lock.tryLock()).isFalse();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(this.lock::lock);
			assertNotOwned();
		}));
	}

	@Test
	void aLostLockOfExecuteShowsAtUnlock() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.execute("a", () -> {
			this.lock.lock();
			lose();
			assertUnlockReportsTheLoss();
		}));
	}

	@Test
	void aServerThatCannotBeAskedIsAnErrorOfTryLockAndNoneOfUnlock() {
		this.repository.always(Kind.ACQUIRE, Fault.lost(() -> new DataAccessResourceFailureException("scripted")));
		assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(this.lock::tryLock);
		assertNotOwned();
		this.repository.heal();
		this.lock.lock();
		this.world.failReleases(new DataAccessResourceFailureException("scripted"));
		this.lock.unlock();
		assertNotOwned();
	}

	@Test
	void lockOutlivesAServerThatCannotBeAsked() throws Exception {
		this.repository.next(Kind.ACQUIRE, Fault.lost(() -> new DataAccessResourceFailureException("scripted")),
				Fault.lost(() -> new DataAccessResourceFailureException("scripted")));
		this.lock.lock();
		assertThat(isHeld()).isTrue();
		this.lock.unlock();
	}

	@Test
	void anUnrenewedLeaseIsRenewedByReentry() {
		Lock unrenewed = this.locks.asLock("a", LockOptions.defaults().autoRenew(false));
		unrenewed.lock();
		this.world.clock().advance(LockWorld.LEASE.dividedBy(2));
		assertThat(unrenewed.tryLock()).isTrue();
		assertThat(LockContext.current("a").orElseThrow().remaining()).isEqualTo(LockWorld.LEASE);
		unrenewed.unlock();
		unrenewed.unlock();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void anUnprovenLeaseThatCannotBeProvenIsAnErrorOfReentryOnly() {
		this.lock.lock();
		this.repository.always(Kind.RENEW, Fault.lost(() -> new DataAccessResourceFailureException("scripted")));
		this.lock.lock();
		this.world.clock().suspend(Duration.ofSeconds(9));
		assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(this.lock::tryLock);
		this.lock.unlock();
		this.repository.heal();
		this.lock.unlock();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void isReleasedWhenATransactionEnds() {
		ScriptedTransactions transactions = new ScriptedTransactions();
		transactions.run(() -> {
			this.lock.lock();
			this.lock.unlock();
			assertThat(isHeld()).isTrue();
			this.lock.lock();
			this.lock.unlock();
			assertThat(isHeld()).isTrue();
		});
		assertThat(isHeld()).isFalse();
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
	}

	@Test
	void closedEnginesLockNothing() {
		this.world.engine().close();
		assertThatExceptionOfType(LockShutdownException.class).isThrownBy(this.lock::lock);
		assertThatExceptionOfType(LockShutdownException.class).isThrownBy(this.lock::tryLock);
	}

	@Test
	void optionsAreCheckedAtOnceAndConditionsRefused() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.locks.asLock("a", LockOptions.lease(Duration.ofMillis(1))));
		assertThatExceptionOfType(UnsupportedOperationException.class).isThrownBy(this.lock::newCondition)
			.withMessageContaining("'a'");
	}

}
