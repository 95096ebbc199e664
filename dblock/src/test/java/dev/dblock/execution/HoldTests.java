package dev.dblock.execution;

import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LossReason;
import dev.dblock.engine.HeldLock;
import dev.dblock.engine.LockEngine;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.mockito.stubbing.Answer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;
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

	private final HeldLock held = mock(HeldLock.class);

	private final Hold shared = Hold.owned(mock(LockEngine.class), this.held);

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

	@Test
	void lastOfSeveralThatLeaveTogetherAnnouncesTheRelease() {
		this.shared.join();
		this.shared.aboutToLeave();
		verify(this.held, never()).aboutToRelease();
		this.shared.aboutToLeave();
		verify(this.held).aboutToRelease();
	}

	@Test
	void workThatContinuesIsNotAnnouncedAsLeaving() {
		this.shared.join();
		this.shared.join();
		this.shared.aboutToLeave();
		this.shared.leave();
		this.shared.aboutToLeave();
		verify(this.held, never()).aboutToRelease();
	}

	@Test
	void nestedCallThatEndsDoesNotHideThatTheOtherWorkLeaves() {
		this.shared.addUser();
		this.shared.aboutToLeave();
		verify(this.held, never()).aboutToRelease();
		assertThat(this.shared.removeUser()).isFalse();
		verify(this.held).aboutToRelease();
	}

}
