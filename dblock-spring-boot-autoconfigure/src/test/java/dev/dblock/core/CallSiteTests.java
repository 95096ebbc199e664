package dev.dblock.core;

import java.util.Optional;

import dev.dblock.LockOptions;
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

}
