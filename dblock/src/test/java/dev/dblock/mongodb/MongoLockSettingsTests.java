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

}
