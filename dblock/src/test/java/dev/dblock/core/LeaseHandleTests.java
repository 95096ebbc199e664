package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.LeaseOwner;
import dev.dblock.engine.HeldLock;
import dev.dblock.store.LeaseKey;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.dao.DataAccessException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(300)
class LeaseHandleTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	@RegisterExtension
	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private int requests() {
		int requests = 0;
		for (Kind kind : Kind.values()) {
			requests += this.repository.count(kind);
		}
		return requests;
	}

	private void assertLost(LossReason reason, ThrowingCallable call) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(call)
			.withMessageContaining("'a'")
			.satisfies((lost) -> {
				assertThat(lost.name()).isEqualTo("a");
				assertThat(lost.reason()).isEqualTo(reason);
				assertThat(lost.token()).isEqualTo(this.repository.peek("a").token() - 1023);
			});
	}

	@Test
	void aVeryShortLeaseIsHeldButNotRenewed() {
		LockHandle handle = this.world.acquire("a", LockOptions.lease(Duration.ofMillis(1)).autoRenew(false));
		assertThat(handle.remaining()).isEqualTo(Duration.ofMillis(1));
		assertThatExceptionOfType(IllegalStateException.class).isThrownBy(handle::startRenewal)
			.withMessageContaining("lease of 1ms")
			.withMessageContaining("500ms");
		this.world.clock().advance(Duration.ofMillis(1));
		assertLost(LossReason.EXPIRED, handle::close);
	}

	@Test
	void workThatNeedsRenewalDoesNotReenterAVeryShortLease() {
		LockHandle handle = this.world.acquire("a", LockOptions.lease(Duration.ofMillis(20)).autoRenew(false));
		assertThatExceptionOfType(IllegalStateException.class)
			.isThrownBy(
					() -> this.world.template().within(handle, () -> this.world.template().execute("a", () -> "never")))
			.withMessageContaining("too short to be renewed");
	}

	@Test
	void aGrantOfAVeryShortLeaseThatCameTooLateIsRequestedOnceMore() {
		LockOptions options = LockOptions.lease(Duration.ofMillis(5)).autoRenew(false);
		this.repository.next(Kind.ACQUIRE, Fault.before(() -> this.world.clock().advance(Duration.ofMillis(200))));
		assertThat(this.world.acquire("a", options).remaining()).isEqualTo(Duration.ofMillis(5));
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(2);
	}

	@Nested
	class Held {

		private final LockHandle handle = LeaseHandleTests.this.world.acquire("a");

		@Test
		void isHeldWithoutAskingTheServer() {
			int before = requests();
			assertThat(this.handle.isHeld()).isTrue();
			assertThat(this.handle.remaining()).isEqualTo(LockWorld.LEASE);
			this.handle.ensureHeld();
			assertThat(this.handle)
				.hasToString("lock 'a', fencing token " + this.handle.token() + ", held for another 30 s");
			assertThat(requests()).isEqualTo(before);
		}

		@Test
		void isRenewedManually() {
			LeaseHandleTests.this.world.clock().advance(Duration.ofSeconds(9));
			this.handle.renew();
			assertThat(this.handle.remaining()).isEqualTo(LockWorld.LEASE);
		}

		@Test
		void staysAsItWasWhenTheServerCannotBeAsked() {
			LeaseHandleTests.this.world.clock().advance(SECOND);
			LeaseHandleTests.this.repository.always(Kind.RENEW, Fault.NO_SERVER);
			LeaseHandleTests.this.repository.always(Kind.EXTEND, Fault.NO_SERVER);
			assertThatThrownBy(this.handle::renew).isInstanceOf(DataAccessException.class);
			assertThatThrownBy(() -> this.handle.extend(Duration.ofHours(1))).isInstanceOf(DataAccessException.class);
			assertThat(this.handle.remaining()).isEqualTo(Duration.ofSeconds(29));
		}

		@Test
		void isExtendedFromNow() {
			LeaseHandleTests.this.world.clock().advance(Duration.ofSeconds(5));
			this.handle.extend(Duration.ofMinutes(10));
			assertThat(this.handle.remaining()).isEqualTo(Duration.ofMinutes(10));
			assertThat(LeaseHandleTests.this.repository.peek("a").remaining()).isGreaterThan(Duration.ofMinutes(10));
		}

		@Test
		void isNeverShortenedByAnExtension() {
			Duration before = LeaseHandleTests.this.repository.peek("a").remaining();
			this.handle.extend(SECOND);
			assertThat(this.handle.remaining()).isEqualTo(LockWorld.LEASE);
			assertThat(LeaseHandleTests.this.repository.peek("a").remaining()).isEqualTo(before);
		}

		@Test
		void isNotShortenedByARenewalAfterAnExtension() {
			this.handle.extend(Duration.ofMinutes(10));
			LeaseHandleTests.this.world.clock().advance(Duration.ofMinutes(1));
			this.handle.renew();
			assertThat(this.handle.remaining()).isEqualTo(Duration.ofMinutes(9));
		}

		@Test
		void isExtendedWithAMinimumHoldThatIsNeverShortened() {
			this.handle.extend(Duration.ofMinutes(10), Duration.ofMinutes(2));
			this.handle.extend(SECOND, SECOND);
			LeaseHandleTests.this.world.clock().advance(SECOND);
			assertThat(this.handle.release()).isTrue();
			assertThat(LeaseHandleTests.this.repository.peek("a").remaining()).isEqualTo(Duration.ofSeconds(119));
		}

		@Test
		void keepsItsMinimumHoldWhenAnExtensionFails() {
			LeaseHandleTests.this.repository.next(Kind.EXTEND, Fault.NO_SERVER);
			assertThatThrownBy(() -> this.handle.extend(Duration.ofMinutes(10), Duration.ofMinutes(2)))
				.isInstanceOf(DataAccessException.class);
			assertThat(this.handle.release()).isTrue();
			assertThat(LeaseHandleTests.this.repository.peek("a").remaining()).isZero();
		}

		@Test
		void endsExactlyWhenRequested() {
			this.handle.extend(Duration.ofHours(1), Duration.ofMinutes(30));
			((HeldLock) this.handle).extendExactly(Duration.ofSeconds(5), SECOND);
			assertThat(this.handle.remaining()).isEqualTo(Duration.ofSeconds(5));
			assertThat(LeaseHandleTests.this.repository.peek("a").remaining()).isEqualTo(Duration.ofMillis(5505));
			LeaseHandleTests.this.world.advance(Duration.ofSeconds(4));
			assertThat(this.handle.remaining()).isEqualTo(SECOND);
			((HeldLock) this.handle).extendExactly(Duration.ofMinutes(10), Duration.ofSeconds(20));
			assertThat(this.handle.remaining()).isEqualTo(Duration.ofMinutes(10));
			assertThat(this.handle.release()).isTrue();
			assertThat(LeaseHandleTests.this.repository.peek("a").remaining()).isEqualTo(Duration.ofSeconds(20));
		}

		@Test
		void isLostAtItsExactEndAndNotHandedOver() {
			((HeldLock) this.handle).extendExactly(Duration.ofSeconds(5), Duration.ZERO);
			assertThat(((LeaseHandle) this.handle).lease().canBeHandedOver()).isFalse();
			LeaseHandleTests.this.world.advance(Duration.ofSeconds(5));
			assertThat(this.handle.isHeld()).isFalse();
			assertLost(LossReason.EXPIRED, this.handle::ensureHeld);
		}

		@Test
		void canBeRenewedAfterAnExactEndWasSet() {
			((HeldLock) this.handle).extendExactly(Duration.ofSeconds(5), Duration.ZERO);
			LeaseHandleTests.this.world.clock().advance(Duration.ofNanos(1));
			this.handle.renew();
			assertThat(this.handle.remaining()).isEqualTo(LockWorld.LEASE);
			this.handle.startRenewal();
			LeaseHandleTests.this.world.advance(Duration.ofSeconds(20));
			LockWorld.eventually().until(() -> this.handle.remaining().equals(LockWorld.LEASE));
		}

		@Test
		void countsUntilTheEarlierEndWhenAnExactExtensionIsInDoubt() {
			LeaseHandleTests.this.repository.next(Kind.EXTEND, Fault.answerLost(Fault.timeout()),
					Fault.answerLost(Fault.timeout()));
			assertThatThrownBy(() -> ((HeldLock) this.handle).extendExactly(Duration.ofHours(1), Duration.ZERO))
				.isInstanceOf(DataAccessException.class);
			assertThat(this.handle.remaining()).isEqualTo(LockWorld.LEASE);
			assertThatThrownBy(
					() -> ((HeldLock) this.handle).extendExactly(Duration.ofSeconds(5), Duration.ofSeconds(5)))
				.isInstanceOf(DataAccessException.class);
			assertThat(this.handle.remaining()).isEqualTo(Duration.ofSeconds(5));
			LeaseHandleTests.this.world.clock().advance(Duration.ofNanos(1));
			this.handle.renew();
			assertThat(this.handle.remaining()).isEqualTo(LockWorld.LEASE);
			assertThat(this.handle.release()).isTrue();
			assertThat(LeaseHandleTests.this.repository.peek("a").remaining()).isZero();
		}

		@Test
		void isTrustedNoLongerThanItsExactEndWhileThatIsRequested() {
			LeaseHandleTests.this.repository.next(Kind.EXTEND, (request, store) -> {
				assertThat(this.handle.remaining()).isEqualTo(Duration.ofSeconds(5));
				return store.get();
			});
			((HeldLock) this.handle).extendExactly(Duration.ofSeconds(5), Duration.ZERO);
			assertThat(this.handle.remaining()).isEqualTo(Duration.ofSeconds(5));
		}

		/**
		 * The store applies the renewal first, so it does not prolong the lease.
		 */
		@Test
		void aRenewalThatIsAnsweredAfterAnExactExtensionProvesNothing() {
			LeaseHandleTests.this.repository.next(Kind.RENEW,
					Fault.before(() -> ((HeldLock) this.handle).extendExactly(Duration.ofSeconds(5), Duration.ZERO)));
			this.handle.renew();
			assertThat(this.handle.remaining()).isEqualTo(Duration.ofSeconds(5));
			assertThat(LeaseHandleTests.this.repository.peek("a").remaining())
				.isGreaterThanOrEqualTo(this.handle.remaining());
		}

		@Test
		void aRenewalThatIsAnsweredDuringAnExactExtensionProvesNothing() {
			LeaseHandleTests.this.repository.next(Kind.EXTEND, Fault.after(this.handle::renew));
			((HeldLock) this.handle).extendExactly(Duration.ofSeconds(5), Duration.ZERO);
			assertThat(this.handle.remaining()).isEqualTo(Duration.ofSeconds(5));
		}

		@Test
		void ofTwoExactExtensionsAtOnceTheEarlierEndCounts() {
			LeaseHandleTests.this.repository.next(Kind.EXTEND,
					Fault.after(() -> ((HeldLock) this.handle).extendExactly(Duration.ofSeconds(5), Duration.ZERO)));
			((HeldLock) this.handle).extendExactly(Duration.ofSeconds(9), Duration.ZERO);
			assertThat(this.handle.remaining()).isEqualTo(Duration.ofSeconds(5));
			((HeldLock) this.handle).extendExactly(Duration.ofSeconds(9), Duration.ZERO);
			assertThat(this.handle.remaining()).isEqualTo(Duration.ofSeconds(9));
		}

		@Test
		void isLostWhenAnExactExtensionFindsItTaken() {
			LeaseHandleTests.this.world.repository().forceRelease("a");
			assertLost(LossReason.TAKEN_OVER, () -> ((HeldLock) this.handle).extendExactly(SECOND, Duration.ZERO));
		}

		@Test
		void refusesInvalidExtensions() {
			int before = requests();
			assertThatIllegalArgumentException().isThrownBy(() -> this.handle.extend(Duration.ZERO));
			assertThatIllegalArgumentException().isThrownBy(() -> this.handle.extend(Duration.ofDays(366)));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> ((HeldLock) this.handle).extendExactly(Duration.ZERO, Duration.ZERO));
			assertThatIllegalArgumentException()
				.isThrownBy(() -> ((HeldLock) this.handle).extendExactly(SECOND, Duration.ofSeconds(2)));
			assertThat(requests()).isEqualTo(before);
		}

		@Test
		void isLostWhenAnExtensionFindsItTaken() {
			LeaseHandleTests.this.world.repository().forceRelease("a");
			assertLost(LossReason.TAKEN_OVER, () -> this.handle.extend(Duration.ofMinutes(1)));
			assertThat(this.handle.isHeld()).isFalse();
		}

		@Test
		void isReleasedAndNotLostWhenAnExtensionCrossesItsRelease() {
			LeaseHandleTests.this.repository.next(Kind.EXTEND, Fault.after(this.handle::release));
			assertLost(LossReason.RELEASED, () -> this.handle.extend(Duration.ofMinutes(1)));
			assertThat(LeaseHandleTests.this.world.news()).containsExactly("acquired a", "released a");
		}

		@Test
		void staysReleasedWhenARenewalCrossesItsRelease() {
			LeaseHandleTests.this.repository.next(Kind.RENEW, Fault.after(this.handle::release));
			assertLost(LossReason.RELEASED, this.handle::renew);
			assertThat(LeaseHandleTests.this.world.news()).containsExactly("acquired a", "released a");
		}

		@Test
		void isLostWhenAManualRenewalIsAnsweredAfterItsExpiry() {
			LockHandle other = LeaseHandleTests.this.world.acquireUnrenewed("b");
			LeaseHandleTests.this.repository.next(Kind.RENEW,
					Fault.before(() -> LeaseHandleTests.this.world.clock().advance(LockWorld.LEASE)));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(other::renew);
			assertThat(other.isHeld()).isFalse();
		}

		@Test
		void isReleasedFromAnotherThread() throws Exception {
			assertThat(Worker.start(this.handle::release).result()).isTrue();
			assertThat(this.handle.isHeld()).isFalse();
			assertThat(LeaseHandleTests.this.repository.isHeld("a")).isFalse();
		}

		@Test
		void isReleasedOnceByTwoThreads() throws Exception {
			Gate gate = new Gate();
			LeaseHandleTests.this.repository.next(Kind.RELEASE, Fault.heldUp(gate));
			Worker<Boolean> first = Worker.start(this.handle::release);
			gate.awaitReached();
			assertThat(this.handle.release()).isFalse();
			assertThat(this.handle.isHeld()).as("not held while its release is under way").isFalse();
			this.handle.close();
			gate.open();
			assertThat(first.result()).isTrue();
			assertThat(LeaseHandleTests.this.repository.count(Kind.RELEASE)).isEqualTo(1);
		}

		@Test
		void isClosedInDoubtWithoutAnException() {
			LeaseHandleTests.this.repository.always(Kind.RELEASE, Fault.NO_SERVER);
			this.handle.close();
			assertThat(LeaseHandleTests.this.repository.count(Kind.RELEASE)).isEqualTo(3);
			assertThat(this.handle.isHeld()).isFalse();
			this.handle.close();
			assertThat(LeaseHandleTests.this.repository.count(Kind.RELEASE)).isEqualTo(3);
		}

		@Test
		void isClosedWithoutAnExceptionWhateverTheStoreThrows() {
			LeaseHandleTests.this.repository.always(Kind.RELEASE,
					Fault.lost(() -> new IllegalStateException("the client is closed")));
			this.handle.close();
			assertThat(this.handle.isHeld()).isFalse();
		}

	}

	@Nested
	class Released {

		private final LockHandle handle = LeaseHandleTests.this.world.acquire("a");

		Released() {
			assertThat(this.handle.release()).isTrue();
		}

		@Test
		void isNotHeldAnyMore() {
			assertThat(this.handle.isHeld()).isFalse();
			assertThat(this.handle.remaining()).isZero();
			assertThat(this.handle).asString().endsWith("RELEASED");
			assertLost(LossReason.RELEASED, this.handle::ensureHeld);
		}

		@Test
		void cannotBeRenewedOrExtended() {
			int before = requests();
			assertLost(LossReason.RELEASED, this.handle::renew);
			assertLost(LossReason.RELEASED, () -> this.handle.extend(SECOND));
			assertLost(LossReason.RELEASED, this.handle::startRenewal);
			this.handle.stopRenewal();
			assertThat(requests()).isEqualTo(before);
		}

		@Test
		void canBeReleasedAgainWithoutEffect() {
			LockHandle successor = LeaseHandleTests.this.world.acquire("a");
			int before = requests();
			assertThat(this.handle.release()).isFalse();
			this.handle.close();
			assertThat(requests()).isEqualTo(before);
			assertThat(successor.isHeld()).isTrue();
		}

		@Test
		void isNotLost() {
			AtomicInteger calls = new AtomicInteger();
			this.handle.onLost((reason) -> calls.incrementAndGet());
			LeaseHandleTests.this.world.advance(LockWorld.LEASE.multipliedBy(2));
			assertThat(calls).hasValue(0);
			assertThat(LeaseHandleTests.this.world.news()).containsExactly("acquired a", "released a");
		}

	}

	@Nested
	class Lost {

		private final LockHandle handle = LeaseHandleTests.this.world.acquireUnrenewed("a");

		Lost() {
			LeaseHandleTests.this.world.advance(LockWorld.LEASE);
			LockWorld.eventually().until(() -> LeaseHandleTests.this.world.news().contains("lost a EXPIRED"));
		}

		@Test
		void isNotHeldAnyMore() {
			assertThat(this.handle.isHeld()).isFalse();
			assertThat(this.handle.remaining()).isZero();
			assertThat(this.handle).asString().endsWith("EXPIRED");
			assertLost(LossReason.EXPIRED, this.handle::ensureHeld);
		}

		@Test
		void isNotRevivedAlthoughTheServerStillRefusesOthers() {
			int before = requests();
			assertThat(LeaseHandleTests.this.repository.isHeld("a")).isTrue();
			assertLost(LossReason.EXPIRED, this.handle::renew);
			assertLost(LossReason.EXPIRED, () -> this.handle.extend(SECOND));
			assertLost(LossReason.EXPIRED, this.handle::startRenewal);
			this.handle.stopRenewal();
			assertThat(requests()).isEqualTo(before);
		}

		@Test
		void releaseReturnsThatItWasNotHeld() {
			assertThat(this.handle.release()).isFalse();
			this.handle.close();
		}

		@Test
		void isReportedByTheFirstClose() {
			assertLost(LossReason.EXPIRED, this.handle::close);
			this.handle.close();
			assertThat(this.handle.release()).isFalse();
		}

		@Test
		void neverTouchesItsSuccessor() {
			LeaseHandleTests.this.world.clock().advance(SECOND);
			LeaseKey successor = LeaseHandleTests.this.world.seize("a", LockWorld.LEASE);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(this.handle::renew);
			assertThat(this.handle.release()).isFalse();
			LockWorld.eventually().until(() -> LeaseHandleTests.this.repository.count(Kind.RELEASE, "a") == 1);
			assertThat(LeaseHandleTests.this.repository.peek("a").holder()).isEqualTo(successor.holder());
		}

		@Test
		void runsALateCallbackAtOnce() {
			AtomicReference<Thread> notified = new AtomicReference<>();
			this.handle.onLost((reason) -> notified.set(Thread.currentThread()));
			assertThat(notified).hasValue(Thread.currentThread());
		}

	}

	@Nested
	class Unproven {

		private final LockHandle handle = LeaseHandleTests.this.world.acquireUnrenewed("a");

		Unproven() {
			LeaseHandleTests.this.world.clock().suspend(Duration.ofSeconds(5));
		}

		@Test
		void isNotConsideredHeld() {
			assertThat(this.handle.isHeld()).isFalse();
			assertThat(this.handle.remaining()).isZero();
			assertThat(this.handle).asString().endsWith("not proven to be held");
		}

		@Test
		void isProvenByTheServer() {
			this.handle.ensureHeld();
			assertThat(this.handle.isHeld()).isTrue();
			this.handle.ensureHeld();
			assertThat(LeaseHandleTests.this.repository.count(Kind.RENEW, "a")).isEqualTo(1);
		}

		@Test
		void staysUnprovenWhenTheServerCannotBeAsked() {
			LeaseHandleTests.this.repository.always(Kind.RENEW, Fault.NO_SERVER);
			assertThatThrownBy(this.handle::ensureHeld).isInstanceOf(DataAccessException.class);
			assertThat(this.handle.isHeld()).isFalse();
			LeaseHandleTests.this.repository.heal();
			this.handle.ensureHeld();
		}

		@Test
		void isLostWhenTheServerReportsIt() {
			LeaseHandleTests.this.world.clock().suspend(LockWorld.LEASE);
			LeaseKey successor = LeaseHandleTests.this.world.seize("a", LockWorld.LEASE);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(this.handle::ensureHeld)
				.satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.TAKEN_OVER));
			assertThat(LeaseHandleTests.this.repository.peek("a").holder()).isEqualTo(successor.holder());
		}

		@Test
		void isReleased() {
			assertThat(this.handle.release()).isTrue();
		}

		@Test
		void isReportedAsLostWhenItsReleaseComesTooLate() {
			LeaseHandleTests.this.world.clock().suspend(LockWorld.LEASE);
			LeaseHandleTests.this.world.seize("a", LockWorld.LEASE);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(this.handle::close);
			assertThat(LeaseHandleTests.this.repository.isHeld("a")).isTrue();
		}

	}

	@Nested
	class Over {

		private final LockHandle handle = LeaseHandleTests.this.world.acquireUnrenewed("a");

		Over() {
			LeaseHandleTests.this.world.clock().advance(LockWorld.LEASE);
		}

		@Test
		void isNotHeldEvenBeforeTheExpiryIsNoticed() {
			assertThat(this.handle.isHeld()).isFalse();
			assertThat(this.handle.remaining()).isZero();
		}

		@Test
		void isNoticedByTheFirstCheck() {
			assertLost(LossReason.EXPIRED, this.handle::ensureHeld);
			LockWorld.eventually()
				.until(() -> LeaseHandleTests.this.world.news().equals(List.of("acquired a", "lost a EXPIRED")));
		}

		@Test
		void isNotReleasedLikeAHeldLock() {
			assertThat(this.handle.release()).isFalse();
			LockWorld.eventually()
				.until(() -> LeaseHandleTests.this.world.news().equals(List.of("acquired a", "lost a EXPIRED")));
		}

	}

	@Test
	void automaticRenewalIsStartedAndStoppedOnAHeldLock() {
		LockHandle handle = this.world.acquireUnrenewed("a");
		this.world.advance(Duration.ofSeconds(20));
		assertThat(handle.remaining()).isEqualTo(Duration.ofSeconds(10));
		handle.startRenewal();
		LockWorld.eventually().until(() -> handle.remaining().equals(LockWorld.LEASE));
		handle.startRenewal();
		handle.stopRenewal();
		handle.stopRenewal();
		this.world.advance(Duration.ofSeconds(20));
		assertThat(handle.remaining()).isEqualTo(Duration.ofSeconds(10));
	}

	@Test
	void earlierCallbacksRunOnceInAThreadOfTheirOwn() throws Exception {
		LockHandle handle = this.world.acquireUnrenewed("a");
		AtomicInteger calls = new AtomicInteger();
		AtomicReference<String> thread = new AtomicReference<>();
		CountDownLatch notified = new CountDownLatch(2);
		handle.onLost((reason) -> {
			thread.set(Thread.currentThread().getName());
			calls.incrementAndGet();
			notified.countDown();
		});
		handle.onLost((reason) -> notified.countDown());
		this.world.clock().advance(LockWorld.LEASE);
		assertThat(handle.release()).isFalse();
		assertThat(notified.await(60, TimeUnit.SECONDS)).isTrue();
		handle.close();
		assertThat(thread.get()).startsWith("dblock-callback-");
		assertThat(calls).hasValue(1);
	}

	@Test
	void aCallbackThatIsAddedDuringTheLossRunsOnce() throws Exception {
		WatchedLeases leases = new WatchedLeases();
		LeaseHandle handle = leases.hold("a", LockWorld.LEASE);
		for (int round = 0; round < 500; round++) {
			LeaseHandle raced = new LeaseHandle(handle.lease(), leases.keeper());
			CyclicBarrier start = new CyclicBarrier(2);
			AtomicInteger calls = new AtomicInteger();
			Worker<Boolean> loss = Worker.start(() -> {
				start.await();
				raced.runLostCallbacks(Runnable::run);
				return true;
			});
			start.await();
			raced.onLost((reason) -> calls.incrementAndGet());
			loss.result();
			raced.runLostCallbacks(Runnable::run);
			assertThat(calls).hasValue(1);
		}
	}

	@Test
	void aThreadThatAskedForItIsInterruptedWhileItWorks() throws Exception {
		CountDownLatch working = new CountDownLatch(1);
		Worker<Boolean> worker = Worker.start(() -> this.world.template()
			.execute("a", LockOptions.defaults().autoRenew(false).whenLost(WhenLost.INTERRUPT), () -> {
				working.countDown();
				return new CountDownLatch(1).await(1, TimeUnit.HOURS);
			}));
		working.await();
		this.world.advance(LockWorld.LEASE);
		assertThat(worker.failure()).isInstanceOf(LockLostException.class)
			.satisfies((lost) -> assertThat(lost.getSuppressed()).hasOnlyElementsOfType(InterruptedException.class));
		assertThat(worker.isInterruptedAfterwards()).isFalse();
	}

	@Test
	void theWorkAroundAnotherIsInterruptedWhenBothHaveLostTheirLocksAtATime() throws Exception {
		LockOptions interrupting = LockOptions.defaults().autoRenew(false).whenLost(WhenLost.INTERRUPT);
		CountDownLatch working = new CountDownLatch(1);
		Worker<Boolean> worker = Worker.start(() -> this.world.template().execute("a", interrupting, () -> {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.world.template().execute("b", interrupting, () -> {
					working.countDown();
					while (!this.world.news().containsAll(List.of("lost a EXPIRED", "lost b EXPIRED"))) {
						Thread.onSpinWait();
					}
				}));
			return new CountDownLatch(1).await(1, TimeUnit.HOURS);
		}));
		working.await();
		this.world.advance(LockWorld.LEASE);
		assertThat(worker.failure()).isInstanceOf(LockLostException.class)
			.satisfies((lost) -> assertThat(lost.getSuppressed()).hasOnlyElementsOfType(InterruptedException.class));
		assertThat(worker.isInterruptedAfterwards()).isFalse();
	}

	@Test
	void anInterruptThatTheWorkDidNotSeeDoesNotReachWhatTheThreadDoesNext() throws Exception {
		CountDownLatch working = new CountDownLatch(1);
		Worker<Boolean> worker = Worker.start(() -> {
			LockHandle handle = this.world.acquire("a",
					LockOptions.defaults().autoRenew(false).whenLost(WhenLost.INTERRUPT));
			working.countDown();
			while (!Thread.currentThread().isInterrupted()) {
				Thread.onSpinWait();
			}
			assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::close);
			return Thread.currentThread().isInterrupted();
		});
		working.await();
		this.world.advance(LockWorld.LEASE);
		assertThat(worker.result()).isFalse();
	}

	@Test
	void aThreadThatDidNotAskForItIsNotInterrupted() {
		LockHandle handle = this.world.acquireUnrenewed("a");
		this.world.advance(LockWorld.LEASE);
		LockWorld.eventually().until(() -> this.world.news().contains("lost a EXPIRED"));
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
		assertThat(handle.release()).isFalse();
	}

	@Test
	void aThreadIsNotInterruptedByALossThatItsOwnReleaseNotices() {
		LockHandle handle = this.world.acquire("a",
				LockOptions.defaults().autoRenew(false).whenLost(WhenLost.INTERRUPT));
		this.world.clock().advance(LockWorld.LEASE);
		assertThat(handle.release()).isFalse();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void aThreadThatWasInterruptedAndFinishesAtTheSameMomentTakesNothingAlong() throws Exception {
		for (int round = 0; round < 500; round++) {
			CyclicBarrier start = new CyclicBarrier(2);
			AtomicReference<LeaseOwner> owner = new AtomicReference<>();
			Worker<Boolean> worker = Worker.start(() -> {
				owner.set(new LeaseOwner(Thread.currentThread()));
				start.await();
				owner.get().finish();
				return Thread.currentThread().isInterrupted();
			});
			start.await();
			owner.get().interrupt();
			assertThat(worker.result()).isFalse();
			assertThat(worker.isInterruptedAfterwards()).isFalse();
		}
	}

}
