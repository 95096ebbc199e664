package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

import dev.dblock.LockHandle;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import dev.dblock.engine.LockEngine;
import dev.dblock.event.LockListener;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class LockListenersTests {

	private final LockWorld world = new LockWorld();

	@AfterEach
	void close() {
		this.world.close();
	}

	@Test
	void areNotifiedInTheirOrder() {
		RecordingListener first = new RecordingListener();
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""), first, new LockListener() {

			@Override
			public void onAcquired(LockHandle handle) {
				assertThat(first.news()).hasSize(1);
				assertThat(LockListenersTests.this.world.news()).isEmpty();
			}

		});
		engine.acquire("a", LockWorld.DEFAULTS);
		assertThat(this.world.news()).containsExactly("acquired a");
	}

	@Test
	void needNotListenToEverything() {
		LockListener deaf = new LockListener() {
		};
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""), deaf);
		LockHandle handle = ((LockEngine.Granted) engine.acquire("a", LockWorld.DEFAULTS)).handle();
		engine.acquire("a", LockWorld.DEFAULTS);
		deaf.onLost(handle, LossReason.EXPIRED);
		deaf.onRenewedLate(handle, Duration.ZERO);
		handle.close();
		assertThat(this.world.news()).containsExactly("acquired a", "unavailable a", "released a");
	}

	@Test
	void theOneThatFailsIsLoggedByItsClass(CapturedOutput output) {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""), new Nameless());
		engine.acquire("a", LockWorld.DEFAULTS);
		assertThat(output).contains("The lock 'a' was acquired, and the listener " + Nameless.class.getName()
				+ " failed when it was notified. The lock is not affected");
	}

	static Stream<Throwable> anything() {
		return Stream.of(new IllegalStateException("scripted"), new NoClassDefFoundError("scripted"),
				new AssertionError("scripted"), new InterruptedException("scripted, as Kotlin may"));
	}

	@ParameterizedTest
	@MethodSource("anything")
	void anExceptionOfOneOfThemChangesNothing(Throwable failure) throws Exception {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""), new Failing(failure));
		LockHandle handle = ((LockEngine.Granted) engine.acquire("a", LockWorld.DEFAULTS)).handle();
		assertThat(engine.acquire("a", LockWorld.DEFAULTS)).isInstanceOf(LockEngine.Refused.class);
		assertThat(handle.release()).isTrue();
		handle = ((LockEngine.Granted) engine.acquire("a", LockWorld.DEFAULTS)).handle();
		CountDownLatch later = new CountDownLatch(1);
		handle.onLost((reason) -> {
			Failing.<RuntimeException>sneak(failure);
		});
		handle.onLost((reason) -> later.countDown());
		this.world.clock().advance(LockWorld.LEASE);
		assertThat(handle.release()).isFalse();
		later.await();
		LockWorld.eventually()
			.until(() -> this.world.news()
				.equals(List.of("acquired a", "unavailable a", "released a", "acquired a", "lost a EXPIRED")));
		handle.onLost((reason) -> {
			Failing.<RuntimeException>sneak(failure);
		});
	}

	private static final class Nameless implements LockListener {

		@Override
		public void onAcquired(LockHandle handle) {
			throw new IllegalStateException("scripted");
		}

	}

	private record Failing(Throwable failure) implements LockListener {

		@Override
		public void onAcquired(LockHandle handle) {
			Failing.<RuntimeException>sneak(this.failure);
		}

		@Override
		public void onUnavailable(LockRefusal refusal) {
			Failing.<RuntimeException>sneak(this.failure);
		}

		@Override
		public void onLost(LockHandle handle, LossReason reason) {
			Failing.<RuntimeException>sneak(this.failure);
		}

		@Override
		public void onReleased(LockHandle handle) {
			Failing.<RuntimeException>sneak(this.failure);
		}

		@SuppressWarnings("unchecked")
		static <E extends Throwable> void sneak(Throwable failure) throws E {
			throw (E) failure;
		}

	}

}
