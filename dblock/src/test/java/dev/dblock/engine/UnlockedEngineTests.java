package dev.dblock.engine;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.core.LockWorld;
import dev.dblock.execution.DefaultLockTemplate;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class UnlockedEngineTests {

	private final LockEngine engine = LockEngine.unlocked(LockWorld.settings("shop:"));

	private LockHandle acquire() {
		return ((LockEngine.Granted) this.engine.acquire("a", LockOptions.defaults())).handle();
	}

	@Test
	void grantsEveryLockToEveryCaller() {
		LockHandle first = acquire();
		LockHandle second = acquire();
		assertThat(first.isHeld()).isTrue();
		assertThat(second.isHeld()).isTrue();
		assertThat(first.name()).isEqualTo("shop:a");
		assertThat(first.remaining()).isEqualTo(LockWorld.LEASE);
		assertThat(first).asString().contains("shop:a").contains("switched off");
	}

	@Test
	void tokensRiseFromRunToRun() {
		LockHandle handle = acquire();
		assertThat(acquire().token()).isGreaterThan(handle.token());
		assertThat(handle.token()).isGreaterThan(1_700_000_000_000L * 1024);
	}

	@Test
	void runsWorkUnlocked() {
		LockTemplate template = new DefaultLockTemplate(this.engine);
		assertThat(template.<String>execute("a", () -> template.execute("a", () -> "done"))).isEqualTo("done");
	}

	@Test
	void checksNamesAndOptions() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.engine.acquire("", LockOptions.defaults()));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.engine.acquire("a", LockOptions.lease(Duration.ofMillis(1))));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.engine.check("stock", LockOptions.lease(Duration.ofMillis(1))));
		this.engine.check("stock", LockOptions.defaults());
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.engine.administration().find(this.engine.fullName("")));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.engine.administration().forceRelease(this.engine.fullName("")));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.engine.administration().forceReleaseNow(this.engine.fullName("")));
		assertThatIllegalArgumentException().isThrownBy(() -> LockEngine
			.unlocked(LockWorld.settings(LockOptions.defaults(), LockWorld.TIMEOUT, LockWorld.POLL)));
	}

	@Test
	void knowsOfNoLocks() {
		acquire();
		assertThat(this.engine.administration().find(this.engine.fullName("a"))).isEmpty();
		assertThat(this.engine.administration().list(true, "", 1).locks()).isEmpty();
		assertThat(this.engine.administration().forceRelease(this.engine.fullName("a"))).isFalse();
		assertThat(this.engine.administration().forceReleaseNow(this.engine.fullName("a"))).isFalse();
		assertThat(this.engine.keptByTransaction("shop:a")).isEmpty();
	}

	@Test
	void aHandleIsHeldUntilItsRelease() {
		LockHandle handle = acquire();
		AtomicBoolean lost = new AtomicBoolean();
		handle.onLost((reason) -> lost.set(true));
		handle.ensureHeld();
		handle.renew();
		handle.extend(Duration.ofDays(1));
		handle.startRenewal();
		handle.stopRenewal();
		assertThatIllegalArgumentException().isThrownBy(() -> handle.extend(Duration.ZERO));
		assertThat(handle.release()).isTrue();
		assertThat(handle.release()).isFalse();
		handle.close();
		assertThat(handle.isHeld()).isFalse();
		assertThat(handle.remaining()).isZero();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::ensureHeld)
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LossReason.RELEASED));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew);
		assertThat(lost).isFalse();
	}

}
