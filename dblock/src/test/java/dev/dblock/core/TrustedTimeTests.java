package dev.dblock.core;

import java.time.Duration;

import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.TrustedTime;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TrustedTimeTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration SHORT = Duration.ofSeconds(5);

	private static final Duration LONG = Duration.ofMinutes(10);

	private final ManualClock clock = new ManualClock();

	private final TrustedTime trusted = new TrustedTime(deadline(LEASE), this.clock);

	@Test
	void isOverAtTheEndOfTheLease() {
		this.clock.advance(LEASE.minusNanos(1));
		assertThat(this.trusted.isOver()).isFalse();
		this.clock.advance(Duration.ofNanos(1));
		assertThat(this.trusted.isOver()).isTrue();
		assertThat(this.trusted.leftAtStore()).isZero();
	}

	@Test
	void isUnprovenAfterASuspensionUntilTheNextProof() {
		this.clock.suspend(Duration.ofSeconds(1));
		this.trusted.observeClocks();
		this.clock.advanceWall(Duration.ofSeconds(-1));
		assertThat(this.trusted.isUnproven()).isTrue();
		this.trusted.prove(deadline(LEASE));
		assertThat(this.trusted.isUnproven()).isFalse();
	}

	@Test
	void anExtensionIsTrustedOnceItIsProven() {
		LeaseDeadline extension = deadline(LONG);
		this.trusted.maybeExtended(extension);
		assertLeft(LEASE, LONG);
		assertThat(this.trusted.isPerhapsExtended()).isTrue();
		this.trusted.prove(extension);
		assertLeft(LONG, LONG);
		assertThat(this.trusted.isPerhapsExtended()).isFalse();
	}

	@Test
	void aShorterExtensionInDoubtDoesNotReplaceALongerOne() {
		this.trusted.maybeExtended(deadline(LONG));
		this.trusted.maybeExtended(deadline(SHORT));
		assertLeft(LEASE, LONG);
	}

	@Test
	void anEarlierEndCountsBeforeItIsConfirmed() {
		this.trusted.beginExactChange(deadline(SHORT));
		assertLeft(SHORT, LEASE);
		this.trusted.endExactChange(deadline(SHORT), true);
		assertLeft(SHORT, SHORT);
	}

	@Test
	void aLaterEndCountsOnceItIsConfirmed() {
		this.trusted.beginExactChange(deadline(LONG));
		assertLeft(LEASE, LONG);
		this.trusted.endExactChange(deadline(LONG), true);
		assertLeft(LONG, LONG);
	}

	@Test
	void ofOverlappingChangesTheEarliestEndCounts() {
		this.trusted.beginExactChange(deadline(LONG));
		this.trusted.beginExactChange(deadline(SHORT));
		this.trusted.endExactChange(deadline(SHORT), true);
		this.trusted.endExactChange(deadline(LONG), true);
		assertLeft(SHORT, LONG);
	}

	@Test
	void aProofThatWasSentBeforeTheEndOfAChangeProvesNothing() {
		LeaseDeadline before = deadline(LONG);
		this.trusted.beginExactChange(deadline(SHORT));
		this.trusted.prove(before);
		this.trusted.endExactChange(deadline(SHORT), true);
		this.trusted.prove(before);
		assertLeft(SHORT, SHORT);
		this.clock.advance(Duration.ofSeconds(1));
		this.trusted.prove(deadline(LEASE));
		assertLeft(LEASE, LEASE);
	}

	private LeaseDeadline deadline(Duration lease) {
		return LeaseDeadline.from(this.clock, lease);
	}

	private void assertLeft(Duration trusted, Duration atStore) {
		assertThat(this.trusted.remainingNanos()).isEqualTo(trusted.toNanos());
		assertThat(this.trusted.leftAtStore()).isEqualTo(atStore);
	}

}
