package dev.dblock.execution;

import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.engine.HeldLock;
import dev.dblock.engine.LockEngine;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.BDDMockito.willThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.never;
import static org.mockito.Mockito.times;
import static org.mockito.Mockito.verify;

/**
 * Tests for {@link Admission}.
 */
class AdmissionTests {

	private final LockEngine engine = mock(LockEngine.class);

	private final HeldLock handle = mock(HeldLock.class);

	private final Hold hold = Hold.owned(this.engine, this.handle);

	private final LockLostException loss = new LockLostException("a", 1, LossReason.EXPIRED);

	private final IllegalStateException failure = new IllegalStateException("scripted");

	@BeforeEach
	void name() {
		given(this.handle.name()).willReturn("a");
	}

	private Admission.@Nullable Joined find() {
		return Admission.Joined.find(this.engine, "a");
	}

	private Admission.Joined begin() {
		return Objects.requireNonNull(find());
	}

	@Test
	void callThatOutlivesTheWorkAroundItReleasesTheLock() {
		try (WorkScope scope = WorkScope.attach(this.hold)) {
			Admission.Joined call = begin();
			this.hold.leave();
			verify(this.handle, never()).close();
			call.end();
			verify(this.handle, times(1)).close();
		}
	}

	@Test
	void callLeavesALossToTheWorkAroundIt() {
		willThrow(this.loss).given(this.handle).ensureHeld();
		willThrow(this.loss).given(this.handle).close();
		try (WorkScope scope = WorkScope.attach(this.hold)) {
			assertThat(begin().endAfter(this.failure)).isSameAs(this.failure);
			begin().end();
		}
		assertThat(this.failure).hasNoSuppressedExceptions();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(this.hold::leave).isSameAs(this.loss);
	}

	@Test
	void callThatOutlivesTheWorkAroundItReportsALoss() {
		try (WorkScope scope = WorkScope.attach(this.hold)) {
			Admission.Joined call = begin();
			this.hold.leave();
			willThrow(this.loss).given(this.handle).close();
			assertThat(call.endAfter(this.failure)).isSameAs(this.loss).hasSuppressedException(this.failure);
		}
	}

	@Test
	void callUnderALockThatWasReleasedAcquiresItAgain() {
		try (WorkScope scope = WorkScope.attach(this.hold)) {
			this.hold.leave();
			assertThat(find()).isNull();
		}
	}

	@Test
	void callUnderALockThatATransactionKeepsDoesNotAcquireItAgain() {
		given(this.engine.keptByTransaction("a")).willReturn(Optional.of(this.handle));
		try (WorkScope scope = WorkScope.attach(this.hold)) {
			this.hold.leave();
			Admission.Joined call = begin();
			assertThat(call.hold().isOwned()).isFalse();
			assertThat(call.counted()).isFalse();
		}
	}

	@Test
	void callIsNotWorkThatExtendsTheHold() {
		try (WorkScope scope = WorkScope.attach(this.hold)) {
			begin();
			assertThat(this.hold.wasJoined()).isFalse();
		}
	}

	@Test
	void callsOfTheThreadThatAcquiredTheLockAreNotCounted() {
		try (WorkScope scope = WorkScope.enter(this.hold)) {
			assertThat(begin()).isEqualTo(new Admission.Joined(this.hold, false));
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
		try (WorkScope scope = WorkScope.attach(this.hold)) {
			Admission.Joined call = begin();
			try (WorkScope nested = WorkScope.enter(call.hold())) {
				begin();
			}
			call.end();
		}
		this.hold.leave();
		verify(this.handle, times(1)).close();
	}

	@Test
	void refusedReentryOfAsynchronousWorkDoesNotKeepTheLock() {
		given(this.engine.fullName("a")).willReturn("a");
		given(this.engine.complete(any(), any())).willAnswer((call) -> call.getArgument(1));
		willThrow(this.failure).given(this.handle).reenter(any());
		try (WorkScope scope = WorkScope.attach(this.hold)) {
			assertThatIllegalStateException()
				.isThrownBy(() -> new DefaultLockTemplate(this.engine).executeAsync("a", LockOptions.defaults(),
						() -> CompletableFuture.completedFuture(1)))
				.isSameAs(this.failure);
		}
		this.hold.leave();
		verify(this.handle).close();
	}

}
