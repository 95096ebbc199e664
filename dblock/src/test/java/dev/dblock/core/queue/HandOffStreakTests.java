package dev.dblock.core.queue;

import java.time.Duration;

import dev.dblock.settings.EngineSettings;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

class HandOffStreakTests {

	/**
	 * The monotonic clock overflows in the middle.
	 */
	private static final long START = Long.MAX_VALUE - 50;

	private static long after(long nanos) {
		return START + nanos;
	}

	private static HandOffStreak streak(int maxCount, Duration maxTime) {
		return new HandOffStreak(new EngineSettings.HandOff(maxCount, maxTime), START);
	}

	@Test
	void endsAfterItsCount() {
		HandOffStreak streak = streak(2, Duration.ofNanos(100));
		streak.handedOver();
		assertThat(streak.mayGoOn(START)).isTrue();
		assertThat(streak.isOver(START)).isFalse();
		streak.handedOver();
		assertThat(streak.mayGoOn(START)).isFalse();
		assertThat(streak.isOver(START)).isTrue();
		streak.start(START);
		assertThat(streak.mayGoOn(START)).isTrue();
	}

	@Test
	void needsNoMoreTokensThanItHandsOverAndThanTheClockCountsMeanwhile() {
		int many = 1_000_000;
		assertThat(new EngineSettings.HandOff(10_000, Duration.ofMillis(100)).tokens(many)).isEqualTo(10_001);
		assertThat(new EngineSettings.HandOff(10_000, Duration.ofMillis(3)).tokens(many)).isEqualTo(3 * 1024);
		assertThat(new EngineSettings.HandOff(10, Duration.ofMillis(100)).tokens(many)).isEqualTo(1024);
		assertThat(new EngineSettings.HandOff(0, Duration.ZERO).tokens(many)).isEqualTo(1024);
		assertThat(new EngineSettings.HandOff(Integer.MAX_VALUE, Duration.ofDays(365)).tokens(many))
			.isEqualTo(1024 * 1000);
		assertThat(new EngineSettings.HandOff(Integer.MAX_VALUE, Duration.ofDays(365)).tokens(Integer.MAX_VALUE))
			.isEqualTo(1024 * 1000);
	}

	@Test
	void takesTwiceTheTokensThatTheLastGrantNeeded() {
		EngineSettings.HandOff settings = new EngineSettings.HandOff(10_000, Duration.ofMillis(100));
		assertThat(settings.tokens(0)).isEqualTo(1024);
		assertThat(settings.tokens(511)).isEqualTo(1024);
		assertThat(settings.tokens(1023)).isEqualTo(2048);
		assertThat(settings.tokens(4095)).isEqualTo(8192);
		assertThat(settings.tokens(8191)).isEqualTo(10_001);
	}

	@Test
	void endsAfterItsTime() {
		HandOffStreak streak = streak(2, Duration.ofNanos(100));
		assertThat(streak.mayGoOn(after(99))).isTrue();
		assertThat(streak.mayGoOn(after(100))).isFalse();
		assertThat(streak.isOver(after(100))).isTrue();
		streak.start(after(100));
		assertThat(streak.mayGoOn(after(199))).isTrue();
	}

	@Test
	void whereNothingIsHandedOverNoThreadYields() {
		for (HandOffStreak off : new HandOffStreak[] { streak(0, Duration.ofNanos(100)), streak(2, Duration.ZERO) }) {
			assertThat(off.mayGoOn(START)).isFalse();
			assertThat(off.isOver(after(1000))).isFalse();
		}
	}

	@Test
	void aPermitIsHandedOverForFourTimesAsLongOnAverage() {
		HandOffStreak streak = streak(2, Duration.ofNanos(100));
		assertThat(streak.mayGoOn(after(399), 1)).isTrue();
		assertThat(streak.mayGoOn(after(400), 1)).isFalse();
		assertThat(streak.endedAfterNanos(after(401))).isEqualTo(400);
		assertThat(streak.endedAfterNanos(after(401))).as("others went first once").isNegative();
		assertThat(streak.mayGoOn(after(499), 4)).as("a quarter of the time with four permits").isTrue();
		assertThat(streak.mayGoOn(after(500), 4)).isFalse();
	}

	@Test
	void aPermitIsHandedOverAsOftenAsALock() {
		HandOffStreak streak = streak(1, Duration.ofNanos(100));
		streak.handedOver();
		assertThat(streak.mayGoOn(START, 3)).isFalse();
		assertThat(streak.endedAfterNanos(START)).isZero();
		assertThat(streak.mayGoOn(START, 3)).isTrue();
	}

	@Test
	void whereNoPermitIsHandedOverNoThreadYields() {
		for (HandOffStreak off : new HandOffStreak[] { streak(0, Duration.ofNanos(100)), streak(2, Duration.ZERO) }) {
			assertThat(off.mayGoOn(START, 2)).isFalse();
			assertThat(off.endedAfterNanos(after(1000))).isNegative();
		}
	}

	@Test
	void boundsAreNotNegative() {
		assertThatIllegalArgumentException().isThrownBy(() -> new EngineSettings.HandOff(-1, Duration.ZERO))
			.withMessageContaining("count");
		assertThatIllegalArgumentException().isThrownBy(() -> new EngineSettings.HandOff(0, Duration.ofNanos(-1)))
			.withMessageContaining("time");
	}

}
