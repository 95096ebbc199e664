package dev.dblock.core;

import java.util.Optional;

import dev.dblock.LockOptions;
import dev.dblock.integration.DblockLockRegistry;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class CallSiteTests {

	@Test
	void namesTheFirstMethodThatIsNotOurs() {
		assertThat(Optional.<String>empty().orElseGet(CallSite::describe)).isEqualTo("java.util.Optional#orElseGet");
	}

	@Test
	void isTheReasonOfALockThatHasNoneOfItsOwn() {
		try (LockWorld world = new LockWorld()) {
			Optional<?> handle = Optional.empty()
				.or(() -> Optional.of(world.template().acquire("a", LockOptions.defaults())));
			assertThat(handle).isPresent();
			assertThat(world.repository().peek("a").why()).isEqualTo("java.util.Optional#or");
		}
	}

	@Test
	void isTheReasonOfEachOfSeveralLocksAndOfLocksInOtherForms() {
		try (LockWorld world = new LockWorld()) {
			assertThat(Optional.empty().or(() -> Optional.of(world.template().acquireAll("a", "b")))).isPresent();
			assertThat(world.repository().peek("a").why()).isEqualTo("java.util.Optional#or");
			assertThat(world.repository().peek("b").why()).isEqualTo("java.util.Optional#or");
			assertThat(Optional.empty().or(() -> Optional.of(world.template().asLock("c").tryLock()))).contains(true);
			assertThat(world.repository().peek("c").why()).isEqualTo("java.util.Optional#or");
			DblockLockRegistry registry = new DblockLockRegistry(world.template());
			assertThat(Optional.empty().or(() -> Optional.of(registry.obtain("d").tryLock()))).contains(true);
			assertThat(world.repository().peek("integration:d").why()).isEqualTo("java.util.Optional#or");
		}
	}

}
