package dev.dblock.core.queue;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;

import dev.dblock.core.ManualClock;
import dev.dblock.settings.EngineSettings;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class PollPauseTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private static void assertPauses(PollPause pauses, int refusals, Duration most) {
		List<Long> drawn = LongStream.generate(() -> pauses.polling(refusals)).limit(200).boxed().toList();
		assertThat(drawn).allMatch((pause) -> pause >= most.toNanos() / 2 && pause <= most.toNanos());
		assertThat(Set.copyOf(drawn)).as("they are jittered").hasSizeGreaterThan(100);
	}

	private static PollPause polling(Duration min, Duration max) {
		return new PollPause(new EngineSettings.Poll(min, max), new ManualClock());
	}

	@Test
	void doublesWithEachRefusalUpToTheLongest() {
		PollPause pauses = polling(Duration.ofMillis(50), Duration.ofSeconds(1));
		assertPauses(pauses, 1, Duration.ofMillis(50));
		assertPauses(pauses, 2, Duration.ofMillis(100));
		assertPauses(pauses, 5, Duration.ofMillis(800));
		assertPauses(pauses, 6, Duration.ofSeconds(1));
		assertPauses(pauses, Integer.MAX_VALUE, Duration.ofSeconds(1));
	}

	@Test
	void doublingDoesNotOverflow() {
		for (int days = 1; days < 40; days++) {
			assertPauses(polling(Duration.ofDays(days), Duration.ofDays(40)), 1000, Duration.ofDays(40));
		}
	}

	@Test
	void isLongWhereReleasesAreReported() {
		long pause = polling(Duration.ofMillis(1), Duration.ofMillis(2)).safeguard();
		assertThat(pause).isBetween(Duration.ofSeconds(10).toNanos(), Duration.ofSeconds(20).toNanos());
	}

	@Test
	void comesALittleAfterTheKnownEndOfALease() {
		PollPause pauses = polling(HOUR, HOUR);
		assertThat(pauses.untilExpiry(0)).isEqualTo(Duration.ofMillis(2).toNanos());
		assertThat(pauses.untilExpiry(HOUR.toNanos())).isEqualTo(HOUR.plusMillis(2).toNanos());
		assertThat(pauses.untilExpiry(Long.MAX_VALUE)).isEqualTo(Long.MAX_VALUE);
	}

	@Test
	void isShortAfterARequestThatTookAllItsTime() {
		PollPause pauses = polling(Duration.ofMillis(50), HOUR);
		Outcome.Unavailable timedOut = new Outcome.Failed(new QueryTimeoutException("scripted"));
		assertThat(pauses.plan(timedOut, 10, true, 0).atNanos()).isLessThanOrEqualTo(Duration.ofMillis(50).toNanos());
		Outcome.Unavailable failed = new Outcome.Failed(new DataAccessResourceFailureException("scripted"));
		assertThat(pauses.plan(failed, 10, true, 0).atNanos()).isGreaterThan(Duration.ofSeconds(10).toNanos());
	}

	@Test
	void theIntervalsArePositiveAndInOrder() {
		assertThatIllegalArgumentException().isThrownBy(() -> new EngineSettings.Poll(Duration.ZERO, HOUR))
			.withMessageContaining("minimum poll interval");
		assertThatIllegalArgumentException().isThrownBy(() -> new EngineSettings.Poll(Duration.ofMillis(-1), HOUR));
		assertThatIllegalArgumentException().isThrownBy(() -> new EngineSettings.Poll(HOUR, HOUR.minusNanos(1)))
			.withMessageContaining("maximum poll interval");
	}

}
