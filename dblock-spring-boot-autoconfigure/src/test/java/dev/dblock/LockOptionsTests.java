package dev.dblock;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class LockOptionsTests {

	private static final Duration SOME = Duration.ofSeconds(7);

	@Test
	void leaveEverythingOpenUnlessSet() {
		assertThat(LockOptions.defaults()).isEqualTo(new LockOptions(null, null, null, null, null, null, null, null));
		assertThat(LockOptions.lease(SOME)).isEqualTo(new LockOptions(SOME, null, null, null, null, null, null, null));
	}

	@Test
	void eachMethodSetsOneOptionAndKeepsTheOthers() {
		LockOptions full = new LockOptions(SOME, SOME, SOME, SOME, true, WhenLost.INTERRUPT, "why", "label");
		Duration other = Duration.ofSeconds(8);
		assertThat(full.withLease(other))
			.isEqualTo(new LockOptions(other, SOME, SOME, SOME, true, WhenLost.INTERRUPT, "why", "label"));
		assertThat(full.waitUpTo(other))
			.isEqualTo(new LockOptions(SOME, other, SOME, SOME, true, WhenLost.INTERRUPT, "why", "label"));
		assertThat(full.minHold(other))
			.isEqualTo(new LockOptions(SOME, SOME, other, SOME, true, WhenLost.INTERRUPT, "why", "label"));
		assertThat(full.maxHold(other))
			.isEqualTo(new LockOptions(SOME, SOME, SOME, other, true, WhenLost.INTERRUPT, "why", "label"));
		assertThat(full.autoRenew(false))
			.isEqualTo(new LockOptions(SOME, SOME, SOME, SOME, false, WhenLost.INTERRUPT, "why", "label"));
		assertThat(full.whenLost(WhenLost.NOTIFY))
			.isEqualTo(new LockOptions(SOME, SOME, SOME, SOME, true, WhenLost.NOTIFY, "why", "label"));
		assertThat(full.why("because"))
			.isEqualTo(new LockOptions(SOME, SOME, SOME, SOME, true, WhenLost.INTERRUPT, "because", "label"));
		assertThat(full.label("other"))
			.isEqualTo(new LockOptions(SOME, SOME, SOME, SOME, true, WhenLost.INTERRUPT, "why", "other"));
	}

	@Test
	void areCompletedByDefaultsAndKeepWhatTheySay() {
		LockOptions defaults = new LockOptions(SOME, SOME, SOME, SOME, true, WhenLost.NOTIFY, "why", "label");
		assertThat(LockOptions.defaults().orElse(defaults)).isEqualTo(defaults);
		LockOptions own = new LockOptions(Duration.ofSeconds(1), Duration.ZERO, Duration.ZERO, Duration.ZERO, false,
				WhenLost.INTERRUPT, "because", "other");
		assertThat(own.orElse(defaults)).isEqualTo(own);
	}

	@Test
	void refuseDurationsThatCannotBe() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockOptions.lease(Duration.ZERO))
			.withMessageContaining("lease must be positive");
		assertThatIllegalArgumentException().isThrownBy(() -> LockOptions.lease(Duration.ofSeconds(-1)))
			.withMessageContaining("-1s");
		LockOptions options = LockOptions.defaults();
		Duration negative = Duration.ofNanos(-1);
		assertThatIllegalArgumentException().isThrownBy(() -> options.waitUpTo(negative))
			.withMessageContaining("wait")
			.withMessageContaining("zero asks once");
		assertThatIllegalArgumentException().isThrownBy(() -> options.minHold(negative))
			.withMessageContaining("minimum hold");
		assertThatIllegalArgumentException().isThrownBy(() -> options.maxHold(negative))
			.withMessageContaining("maximum hold");
	}

}
