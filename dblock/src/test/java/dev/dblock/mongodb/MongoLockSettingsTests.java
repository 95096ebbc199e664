package dev.dblock.mongodb;

import java.time.Duration;

import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class MongoLockSettingsTests {

	private static MongoLockSettings settings(String collection, Duration allowance, Duration retention,
			Duration timeout) {
		return new MongoLockSettings(collection, allowance, retention, timeout, StatementDialect.AUTO, true);
	}

	@Test
	void refusesInvalidSettingsByName() {
		Duration day = Duration.ofDays(1);
		Duration second = Duration.ofSeconds(1);
		assertThat(settings("locks", Duration.ZERO, day, second).collection()).isEqualTo("locks");
		assertThatIllegalArgumentException().isThrownBy(() -> settings(" ", second, day, second))
			.withMessageContaining("name");
		assertThatIllegalArgumentException().isThrownBy(() -> settings("a$b", second, day, second))
			.withMessageContaining("'a$b'");
		assertThatIllegalArgumentException().isThrownBy(() -> settings("a\0b", second, day, second))
			.withMessageContaining("NUL");
		assertThatIllegalArgumentException().isThrownBy(() -> settings("system.locks", second, day, second))
			.withMessageContaining("reserved for the server");
		assertThatIllegalArgumentException().isThrownBy(() -> settings("locks", second.negated(), day, second))
			.withMessageContaining("clock allowance")
			.withMessageContaining("-1s");
		assertThatIllegalArgumentException().isThrownBy(() -> settings("locks", second, day.minusNanos(1), second))
			.withMessageContaining("at least one day");
		assertThatIllegalArgumentException().isThrownBy(() -> settings("locks", second, day, Duration.ZERO))
			.withMessageContaining("positive");
		assertThatIllegalArgumentException().isThrownBy(() -> settings("locks", second, day, second.negated()))
			.withMessageContaining("positive");
	}

	@Test
	void refusesDurationsThatWouldOverflow() {
		Duration second = Duration.ofSeconds(1);
		Duration year = Duration.ofDays(365);
		Duration century = Duration.ofDays(36_500);
		Duration forever = Duration.ofSeconds(Long.MAX_VALUE);
		assertThat(settings("locks", year, century, year).retention()).isEqualTo(century);
		assertThatIllegalArgumentException().isThrownBy(() -> settings("locks", forever, century, second))
			.withMessageContaining("clock allowance must be at most 365d");
		assertThatIllegalArgumentException().isThrownBy(() -> settings("locks", second, forever, second))
			.withMessageContaining("retention must be at most 36500d");
		assertThatIllegalArgumentException().isThrownBy(() -> settings("locks", second, century, forever))
			.withMessageContaining("timeout must be at most 365d");
	}

}
