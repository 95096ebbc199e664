package dev.dblock.core;

import java.time.Duration;

import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.LockClock;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LeaseDeadlineTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final ManualClock clock = new ManualClock();

	@Test
	void runsOutExactlyAtTheEndOfTheLease() {
		LeaseDeadline deadline = LeaseDeadline.from(this.clock, LEASE);
		assertThat(deadline.remainingNanos(this.clock)).isEqualTo(LEASE.toNanos());
		this.clock.advance(LEASE.minusNanos(1));
		assertThat(deadline.passed(this.clock)).isFalse();
		assertThat(deadline.remainingNanos(this.clock)).isEqualTo(1);
		this.clock.advance(Duration.ofNanos(1));
		assertThat(deadline.passed(this.clock)).isTrue();
	}

	@Test
	void isCountedByTheMonotonicClockAlone() {
		LeaseDeadline deadline = LeaseDeadline.from(this.clock, LEASE);
		this.clock.advanceWall(Duration.ofDays(-3));
		assertThat(deadline.passed(this.clock)).isFalse();
		assertThat(deadline.suspect(this.clock)).isFalse();
		this.clock.advanceNano(LEASE);
		assertThat(deadline.passed(this.clock)).isTrue();
	}

	@Test
	void isSuspectOnceTheWallClockHasRunAheadByMoreThanTheThreshold() {
		LeaseDeadline deadline = LeaseDeadline.from(this.clock, LEASE);
		this.clock.suspend(Duration.ofMillis(250));
		assertThat(deadline.suspect(this.clock)).isFalse();
		this.clock.suspend(Duration.ofMillis(1));
		assertThat(deadline.suspect(this.clock)).isTrue();
		assertThat(deadline.passed(this.clock)).isFalse();
	}

	@Test
	void theThresholdIsHalfOfASmallClockAllowance() {
		assertThat(LockClock.with(Duration.ofDays(1)).unnoticedNanos()).isEqualTo(250_000_000);
		assertThat(LockClock.with(Duration.ofMillis(500)).unnoticedNanos()).isEqualTo(250_000_000);
		assertThat(LockClock.with(Duration.ofMillis(300)).unnoticedNanos()).isEqualTo(150_000_000);
		assertThat(LockClock.with(Duration.ZERO).unnoticedNanos()).isEqualTo(10_000_000);
		LockClock strict = new LockClock() {

			@Override
			public long nanoTime() {
				return LeaseDeadlineTests.this.clock.nanoTime();
			}

			@Override
			public long wallMillis() {
				return LeaseDeadlineTests.this.clock.wallMillis();
			}

			@Override
			public long unnoticedNanos() {
				return LockClock.with(Duration.ZERO).unnoticedNanos();
			}

		};
		LeaseDeadline deadline = LeaseDeadline.from(strict, LEASE);
		this.clock.suspend(Duration.ofMillis(10));
		assertThat(deadline.suspect(strict)).isFalse();
		this.clock.suspend(Duration.ofMillis(1));
		assertThat(deadline.suspect(strict)).isTrue();
		assertThat(deadline.suspect(this.clock)).isFalse();
	}

	@Test
	void upToAnotherEndKeepsWhatIsKnownOfTheMachine() {
		LeaseDeadline deadline = LeaseDeadline.from(this.clock, LEASE);
		this.clock.suspend(Duration.ofSeconds(1));
		LeaseDeadline observed = deadline.observe(this.clock);
		LeaseDeadline sooner = observed.upTo(LeaseDeadline.from(this.clock, Duration.ofSeconds(2)));
		assertThat(sooner.remainingNanos(this.clock)).isEqualTo(Duration.ofSeconds(2).toNanos());
		assertThat(sooner.suspect(this.clock)).isTrue();
		LeaseDeadline later = observed.upTo(LeaseDeadline.from(this.clock, Duration.ofHours(2)));
		assertThat(later).isEqualTo(observed);
	}

	@Test
	void aLongLeaseMayDriftByAThousandth() {
		LeaseDeadline deadline = LeaseDeadline.from(this.clock, Duration.ofHours(2));
		this.clock.advance(Duration.ofHours(1));
		this.clock.advanceWall(Duration.ofMillis(3600 + 249));
		assertThat(deadline.suspect(this.clock)).isFalse();
		this.clock.advanceWall(Duration.ofMillis(2));
		assertThat(deadline.suspect(this.clock)).isTrue();
	}

	@Test
	void aLaterProofReachesFurther() {
		LeaseDeadline first = LeaseDeadline.from(this.clock, LEASE);
		this.clock.advance(Duration.ofSeconds(10));
		LeaseDeadline second = LeaseDeadline.from(this.clock, LEASE);
		assertThat(first.merge(second)).isEqualTo(second);
	}

	@Test
	void anAnswerThatWasOvertakenTakesNothingBack() {
		LeaseDeadline first = LeaseDeadline.from(this.clock, LEASE);
		this.clock.advance(Duration.ofSeconds(10));
		LeaseDeadline second = LeaseDeadline.from(this.clock, LEASE);
		assertThat(second.merge(first)).isEqualTo(second);
	}

	@Test
	void aRenewalKeepsWhatAnExtensionHasReached() {
		LeaseDeadline extension = LeaseDeadline.from(this.clock, Duration.ofHours(1));
		this.clock.advance(Duration.ofMinutes(1));
		LeaseDeadline renewal = LeaseDeadline.from(this.clock, LEASE);
		LeaseDeadline both = extension.merge(renewal);
		assertThat(both.remainingNanos(this.clock)).isEqualTo(Duration.ofMinutes(59).toNanos());
		assertThat(both.sentNanos()).isEqualTo(renewal.sentNanos());
		assertThat(renewal.merge(extension)).isEqualTo(both);
	}

	@Test
	void aRenewalAfterASuspensionTakesOffTheTimeThatTheExtensionLostMeanwhile() {
		LeaseDeadline extension = LeaseDeadline.from(this.clock, Duration.ofHours(1));
		this.clock.suspend(Duration.ofMinutes(40));
		LeaseDeadline renewal = LeaseDeadline.from(this.clock, LEASE);
		LeaseDeadline both = extension.merge(renewal);
		assertThat(both.suspect(this.clock)).isFalse();
		assertThat(both.remainingNanos(this.clock)).isEqualTo(Duration.ofMinutes(20).toNanos());
		this.clock.suspend(Duration.ofMinutes(19));
		LeaseDeadline third = both.merge(LeaseDeadline.from(this.clock, LEASE));
		assertThat(third.remainingNanos(this.clock)).isEqualTo(Duration.ofMinutes(1).toNanos());
		this.clock.suspend(Duration.ofMinutes(19));
		LeaseDeadline last = third.merge(LeaseDeadline.from(this.clock, LEASE));
		assertThat(last.remainingNanos(this.clock)).isEqualTo(LEASE.toNanos());
	}

	@Test
	void aRenewalTakesOffTheTimeThatWasLostThoughTheWallClockWasSetBackSince() {
		LeaseDeadline extension = LeaseDeadline.from(this.clock, Duration.ofHours(1));
		this.clock.suspend(Duration.ofMinutes(10));
		LeaseDeadline seen = extension.observe(this.clock);
		this.clock.advanceWall(Duration.ofMinutes(-10));
		LeaseDeadline renewal = LeaseDeadline.from(this.clock, LEASE);
		assertThat(seen.merge(renewal).remainingNanos(this.clock)).isEqualTo(Duration.ofMinutes(50).toNanos());
	}

	@Test
	void clocksThatGoTogetherLeaveNothingToNote() {
		LeaseDeadline deadline = LeaseDeadline.from(this.clock, LEASE);
		this.clock.advance(Duration.ofSeconds(10));
		assertThat(deadline.observe(this.clock)).isSameAs(deadline);
	}

	@Test
	void aWallClockThatWasSetBackLengthensNothing() {
		LeaseDeadline extension = LeaseDeadline.from(this.clock, Duration.ofHours(1));
		this.clock.advance(Duration.ofMinutes(1));
		this.clock.advanceWall(Duration.ofDays(-1));
		LeaseDeadline both = extension.merge(LeaseDeadline.from(this.clock, LEASE));
		assertThat(both.remainingNanos(this.clock)).isEqualTo(Duration.ofMinutes(59).toNanos());
	}

	@Test
	void aThreadThatIsNotScheduledBetweenTwoReadingsIsNotTakenForASuspension() {
		LeaseDeadline deadline = LeaseDeadline.from(new SlowlyRead(this.clock), LEASE);
		assertThat(deadline.suspect(this.clock)).isFalse();
		assertThat(deadline.suspect(new SlowlyRead(this.clock))).isFalse();
	}

	/**
	 * A second passes after each reading.
	 */
	private record SlowlyRead(ManualClock clock) implements LockClock {

		@Override
		public long nanoTime() {
			long nanos = this.clock.nanoTime();
			this.clock.advance(Duration.ofSeconds(1));
			return nanos;
		}

		@Override
		public long wallMillis() {
			long millis = this.clock.wallMillis();
			this.clock.advance(Duration.ofSeconds(1));
			return millis;
		}

	}

}
