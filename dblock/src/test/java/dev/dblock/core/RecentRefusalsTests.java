package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;

import dev.dblock.LockInfo;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RecentRefusalsTests {

	private final ManualClock clock = new ManualClock();

	private final RecentRefusals refusals = new RecentRefusals(this.clock);

	private static LockInfo lock(String name, Duration remaining) {
		return new LockInfo(name, true, "id", "host", "main", "test", 1, Instant.EPOCH, null, null, null, remaining);
	}

	@Test
	void aNameIsLikelyToBeTakenUntilItsLeaseEnds() {
		assertThat(this.refusals.isLikelyTaken("a")).isFalse();
		this.refusals.remember(lock("a", Duration.ofSeconds(3)));
		this.clock.advance(Duration.ofSeconds(3).minusNanos(1));
		assertThat(this.refusals.isLikelyTaken("a")).isTrue();
		assertThat(this.refusals.isLikelyTaken("b")).isFalse();
		this.clock.advance(Duration.ofNanos(1));
		assertThat(this.refusals.isLikelyTaken("a")).isFalse();
	}

	@Test
	void aNameThatWasForgottenIsNotLikelyToBeTaken() {
		this.refusals.remember(lock("a", Duration.ofSeconds(3)));
		this.refusals.forget("a");
		assertThat(this.refusals.isLikelyTaken("a")).isFalse();
		assertThat(this.refusals.size()).isZero();
	}

	@Test
	void aNameThatWasSetAsideForEverIsLikelyToBeTaken() {
		this.refusals.remember(lock("a", Duration.ofDays(3_000_000)));
		this.clock.advance(Duration.ofDays(1000));
		assertThat(this.refusals.isLikelyTaken("a")).isTrue();
	}

	@Test
	void theNumberOfNamesIsLimitedAndThoseThatAreOverMakeRoom() {
		this.refusals.remember(lock("brief", Duration.ofSeconds(1)));
		for (int i = 0; i < 2 * RecentRefusals.MOST; i++) {
			this.refusals.remember(lock("name-" + i, Duration.ofSeconds(3)));
		}
		assertThat(this.refusals.size()).isEqualTo(RecentRefusals.MOST);
		this.clock.advance(Duration.ofSeconds(1));
		this.refusals.remember(lock("new", Duration.ofSeconds(3)));
		assertThat(this.refusals.size()).isEqualTo(RecentRefusals.MOST);
		this.clock.advance(Duration.ofSeconds(3));
		this.refusals.remember(lock("last", Duration.ofSeconds(3)));
		assertThat(this.refusals.size()).isOne();
	}

}
