package dev.dblock.settings;

import java.time.Duration;

import dev.dblock.settings.EngineSettings.HandOff;
import dev.dblock.settings.EngineSettings.Poll;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class EngineSettingsTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private static final Duration YEAR = Duration.ofDays(365);

	private static final Duration FOREVER = Duration.ofSeconds(Long.MAX_VALUE);

	private static EngineSettings withTimeout(Duration timeout) {
		EngineSettings settings = EngineSettings.defaults("here");
		return new EngineSettings("", "here", settings.defaults(), timeout, settings.poll(), settings.handOff());
	}

	@Test
	void refusesDurationsThatWouldOverflow() {
		assertThat(withTimeout(YEAR).timeout()).isEqualTo(YEAR);
		assertThat(new Poll(SECOND, YEAR).maxInterval()).isEqualTo(YEAR);
		assertThat(new HandOff(1, YEAR).tokens(0)).isPositive();
		assertThatIllegalArgumentException().isThrownBy(() -> withTimeout(FOREVER))
			.withMessageContaining("timeout must be at most 365d");
		assertThatIllegalArgumentException().isThrownBy(() -> withTimeout(Duration.ZERO))
			.withMessageContaining("timeout must be positive");
		assertThatIllegalArgumentException().isThrownBy(() -> new Poll(SECOND, FOREVER))
			.withMessageContaining("maximum poll interval must be at most 365d");
		assertThatIllegalArgumentException().isThrownBy(() -> new HandOff(1, FOREVER))
			.withMessageContaining("hand-over time must be at most 365d");
	}

}
