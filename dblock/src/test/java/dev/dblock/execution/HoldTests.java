package dev.dblock.execution;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.engine.HeldLock;
import dev.dblock.engine.LockEngine;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.stubbing.Answer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNoException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/**
 * Tests for {@link Hold}.
 */
class HoldTests {

	private final LockHandle handle = mock(LockHandle.class);

	private final Hold hold = Hold.owned(mock(LockEngine.class), this.handle);

	private final AtomicBoolean released = new AtomicBoolean();

	private static LockLostException loss(LossReason reason) {
		return new LockLostException("a", 1, reason);
	}

	@BeforeEach
	void recordTheRelease() {
		willAnswer((call) -> {
			this.released.set(true);
			return null;
		}).given(this.handle).close();
	}

	/**
	 * Other work leaves while this work is about to, and releases the lock if it is last.
	 */
	private Answer<Object> otherWorkLeaves() {
		AtomicBoolean leaving = new AtomicBoolean();
		return (call) -> {
			if (leaving.compareAndSet(false, true)) {
				this.hold.leave();
				if (this.released.get()) {
					throw loss(LossReason.RELEASED);
				}
			}
			return true;
		};
	}

	@Test
	void workThatLeavesTogetherWithOtherWorkReportsNoLoss() {
		this.hold.join();
		willAnswer(otherWorkLeaves()).given(this.handle).ensureHeld();
		assertThatNoException().isThrownBy(this.hold::leave);
		verify(this.handle, times(1)).close();
	}

	@Test
	void releaseTogetherWithOtherWorkReportsThatTheLockWasHeld() {
		this.hold.join();
		given(this.handle.isHeld()).willAnswer(otherWorkLeaves());
		given(this.handle.release()).willReturn(true);
		assertThat(this.hold.release()).isTrue();
		verify(this.handle, never()).close();
	}

	@Test
	void lossIsReportedToEachWork() {
		this.hold.join();
		LockLostException loss = loss(LossReason.EXPIRED);
		willThrow(loss).given(this.handle).ensureHeld();
		willThrow(loss).given(this.handle).close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.hold::leave).isSameAs(loss);
		verify(this.handle, never()).close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.hold::leave).isSameAs(loss);
		verify(this.handle, times(1)).close();
	}

	@Test
	void errorOfTheCheckDoesNotKeepTheLockFromBeingReleased() {
		this.hold.join();
		willThrow(new NoClassDefFoundError("scripted")).given(this.handle).ensureHeld();
		assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(this.hold::leave);
		this.hold.leave();
		verify(this.handle, times(1)).close();
	}

	private WorkScope attach() {
		given(this.handle.name()).willReturn("a");
		return WorkScope.attach(this.hold);
	}

	private @Nullable Hold call() {
		return Hold.ofCall(this.hold.engine(), "a");
	}

	@Test
	void nestedCallThatOutlivesTheWorkAroundItReleasesTheLock() {
		try (WorkScope scope = attach()) {
			assertThat(call()).isSameAs(this.hold);
			this.hold.leave();
			verify(this.handle, never()).close();
			this.hold.leaveCall();
			verify(this.handle, times(1)).close();
		}
	}

	@Test
	void nestedCallLeavesALossToTheWorkAroundIt() {
		LockLostException loss = loss(LossReason.EXPIRED);
		willThrow(loss).given(this.handle).ensureHeld();
		willThrow(loss).given(this.handle).close();
		IllegalStateException failure = new IllegalStateException("scripted");
		try (WorkScope scope = attach()) {
			call();
			assertThat(this.hold.leaveCallAfter(failure)).isSameAs(failure);
		}
		assertThat(failure).hasNoSuppressedExceptions();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.hold::leave).isSameAs(loss);
	}

	@Test
	void nestedCallThatOutlivesTheWorkAroundItReportsALoss() {
		IllegalStateException failure = new IllegalStateException("scripted");
		try (WorkScope scope = attach()) {
			call();
			this.hold.leave();
			LockLostException loss = loss(LossReason.EXPIRED);
			willThrow(loss).given(this.handle).close();
			assertThat(this.hold.leaveCallAfter(failure)).isSameAs(loss).hasSuppressedException(failure);
		}
	}

	@Test
	void callUnderALockThatWasReleasedAcquiresItAgain() {
		try (WorkScope scope = attach()) {
			this.hold.leave();
			assertThat(call()).isNull();
		}
	}

	@Test
	void callUnderALockThatATransactionKeepsDoesNotAcquireItAgain() {
		given(this.hold.engine().keptByTransaction("a", null)).willReturn(Optional.of(this.handle));
		try (WorkScope scope = attach()) {
			this.hold.leave();
			assertThat(call()).isNotNull().extracting(Hold::isOwned).isEqualTo(false);
		}
	}

	@Test
	void nestedCallIsNotWorkThatExtendsTheHold() {
		try (WorkScope scope = attach()) {
			call();
			assertThat(this.hold.wasJoined()).isFalse();
		}
	}

	@Test
	void callsOfTheThreadThatAcquiredTheLockAreNotCounted() {
		given(this.handle.name()).willReturn("a");
		try (WorkScope scope = WorkScope.enter(this.hold)) {
			assertThat(call()).isSameAs(this.hold);
		}
		this.hold.leave();
		verify(this.handle, times(1)).close();
	}

	/**
	 * An overflow of the stack by recursive calls must not keep the lock from being
	 * released.
	 */
	@Test
	void onlyTheOutermostCallIsCounted() {
		try (WorkScope scope = attach()) {
			call();
			try (WorkScope nested = WorkScope.enter(this.hold)) {
				call();
			}
			this.hold.leaveCall();
		}
		this.hold.leave();
		verify(this.handle, times(1)).close();
	}

	@Test
	void refusedReentryOfAsynchronousWorkDoesNotKeepTheLock() {
		HeldLock held = mock(HeldLock.class);
		LockEngine engine = this.hold.engine();
		given(held.name()).willReturn("a");
		given(engine.fullName("a")).willReturn("a");
		given(engine.complete(any(), any())).willAnswer((call) -> call.getArgument(1));
		willThrow(new IllegalStateException("scripted")).given(held).reenter(any());
		Hold outer = Hold.owned(engine, held);
		try (WorkScope scope = WorkScope.attach(outer)) {
			assertThatIllegalStateException().isThrownBy(() -> new DefaultLockTemplate(engine).executeAsync("a",
					LockOptions.defaults(), () -> CompletableFuture.completedFuture(1)));
		}
		outer.leave();
		verify(held).close();
	}

	@Test
	void lastOfSeveralThatLeaveTogetherAnnouncesTheRelease() {
		HeldLock held = mock(HeldLock.class);
		Hold shared = Hold.owned(mock(LockEngine.class), held);
		shared.join();
		shared.aboutToLeave();
		verify(held, never()).aboutToRelease();
		shared.aboutToLeave();
		verify(held).aboutToRelease();
	}

	@Test
	void workThatContinuesIsNotAnnouncedAsLeaving() {
		HeldLock held = mock(HeldLock.class);
		Hold shared = Hold.owned(mock(LockEngine.class), held);
		shared.join();
		shared.join();
		shared.aboutToLeave();
		shared.leave();
		shared.aboutToLeave();
		verify(held, never()).aboutToRelease();
	}

}
