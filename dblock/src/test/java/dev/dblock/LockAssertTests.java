package dev.dblock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import dev.dblock.core.LockWorld;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link LockAssert}.
 */
class LockAssertTests {

	private final LockWorld world = new LockWorld();

	private final LockTemplate locks = this.world.template();

	@AfterEach
	void close() {
		this.world.close();
	}

	@Test
	void unlockedCodeGetsAnErrorWithThePossibleReasons() {
		assertThatIllegalStateException().isThrownBy(LockAssert::assertLocked)
			.withMessageContaining("Not locked: thread '" + Thread.currentThread().getName() + "' runs under no lock")
			.withMessageContaining("proxy");
		assertThatIllegalStateException().isThrownBy(() -> LockAssert.assertLocked("stock"))
			.withMessageContaining("Not locked by 'stock'");
	}

	@Test
	void lockedCodePasses() {
		this.locks.execute("stock", () -> {
			LockAssert.assertLocked();
			LockAssert.assertLocked("stock");
		});
	}

	@Test
	void outerLocksCountWhenTheyAreNamed() {
		this.locks.execute("outer", () -> this.locks.execute("inner", () -> {
			LockAssert.assertLocked("outer");
			LockAssert.assertLocked("inner");
		}));
	}

	@Test
	void anotherLockDoesNot() {
		this.locks.execute("stock",
				() -> assertThatIllegalStateException().isThrownBy(() -> LockAssert.assertLocked("orders"))
					.withMessageContaining("Not locked by 'orders'")
					.withMessageContaining("runs under 'stock'"));
	}

	@Test
	void theNameIsKnownWithItsPrefixAndWithout() {
		LockTemplate prefixed = this.world.anotherProcess("shop-");
		prefixed.execute("stock", () -> {
			LockAssert.assertLocked("stock");
			LockAssert.assertLocked("shop-stock");
			assertThatIllegalStateException().isThrownBy(() -> LockAssert.assertLocked("shop-"));
		});
	}

	@Test
	void anotherThreadIsNotLocked() {
		this.locks.execute("stock",
				() -> CompletableFuture
					.runAsync(() -> assertThatIllegalStateException().isThrownBy(LockAssert::assertLocked))
					.join());
	}

	@Test
	void aManuallyAcquiredHandleDoesNotCount() {
		try (LockHandle handle = this.locks.acquire("stock")) {
			assertThatIllegalStateException().isThrownBy(LockAssert::assertLocked);
		}
	}

	@Test
	void aLostLockIsNotHeld() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.locks.execute("stock", () -> {
			this.world.rob("stock");
			this.world.advance(Duration.ofSeconds(31));
			assertThatExceptionOfType(LockLostException.class).isThrownBy(LockAssert::assertLocked);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> LockAssert.assertLocked("stock"));
		}));
	}

}
