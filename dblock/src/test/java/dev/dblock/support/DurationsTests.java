package dev.dblock.support;

import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

class DurationsTests {

	@ParameterizedTest
	@CsvSource({ "PT0S, 0 ms", "PT0.0005S, 0.5 ms", "PT0.000000999S, 0 ms", "PT0.143212068S, 143 ms",
			"PT0.999999S, 999 ms", "PT1S, 1 s", "PT1.2S, 1.2 s", "PT12.345678S, 12.345 s", "PT60S, 1 min",
			"PT61.5S, 1 min 1.5 s", "PT1H5M, 1 h 5 min", "PT24H0.25S, 1 d 0.25 s", "PT8784H, 366 d",
			"PT-0.5S, -500 ms" })
	void isWrittenForPeople(Duration duration, String text) {
		assertThat(Durations.readable(duration)).isEqualTo(text);
	}

	@Test
	void theLongestDurationsAreWrittenInsteadOfOverflowing() {
		for (Duration longest : List.of(Duration.ofSeconds(Long.MAX_VALUE, 999_999_999),
				Duration.ofSeconds(Long.MIN_VALUE))) {
			assertThat(Durations.readable(longest)).contains("106751991167 d");
			assertThat(Durations.written(longest)).contains("106751991167d");
		}
	}

	@ParameterizedTest
	@CsvSource({ "PT0S, 0s", "PT0.03S, 30ms", "PT-5S, -5s", "PT1H5M, 1h5m", "PT8760H, 365d" })
	void isWrittenAsInProperties(Duration duration, String text) {
		assertThat(Durations.written(duration)).isEqualTo(text);
	}

}
