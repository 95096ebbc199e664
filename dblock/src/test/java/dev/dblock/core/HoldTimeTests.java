package dev.dblock.core;

import java.time.Duration;

import dev.dblock.LockOptions;
import dev.dblock.core.lease.HoldTime;
import dev.dblock.settings.LeaseTerms;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class HoldTimeTests {

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final ManualClock clock = new ManualClock();

	private final HoldTime hold = new HoldTime(
			LeaseTerms.of(LockOptions.defaults().minHold(SECOND.multipliedBy(5)).orElse(LockWorld.DEFAULTS)),
			this.clock);

	@Test
	void countsTheMinimumHoldTimeFromTheGrant() {
		this.clock.advance(SECOND);
		assertThat(this.hold.heldNanos()).isEqualTo(SECOND.toNanos());
		assertLeft(4);
		this.clock.advance(SECOND.multipliedBy(9));
		assertLeft(0);
	}

	@Test
	void lengthensTheMinimumHoldTimeOnly() {
		this.clock.advance(SECOND);
		this.hold.minHoldAtLeast(SECOND.multipliedBy(3));
		assertLeft(4);
		this.hold.minHoldAtLeast(SECOND.multipliedBy(5));
		assertLeft(5);
	}

	@Test
	void setsTheMinimumHoldTimeAnew() {
		this.hold.minHoldFor(SECOND);
		assertLeft(1);
	}

	@Test
	void waivesTheMinimumHoldTime() {
		assertThat(this.hold.isWaived()).isFalse();
		this.hold.waiveMinHold();
		assertThat(this.hold.isWaived()).isTrue();
		assertLeft(0);
	}

	@Test
	void isUnlimitedByDefault() {
		this.clock.advance(Duration.ofDays(1));
		assertThat(this.hold.isBeyondMaxHold()).isFalse();
	}

	private void assertLeft(int seconds) {
		assertThat(this.hold.minHoldLeftNanos()).isEqualTo(SECOND.multipliedBy(seconds).toNanos());
	}

}
