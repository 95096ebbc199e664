package dev.dblock.core;

import java.time.Duration;

import dev.dblock.LockOptions;
import dev.dblock.core.lease.HoldTime;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.Renewal;
import dev.dblock.core.lease.TrustedTime;
import dev.dblock.settings.LeaseTerms;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class RenewalTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final ManualClock clock = new ManualClock();

	private final TrustedTime trusted = new TrustedTime(LeaseDeadline.from(this.clock, LEASE), this.clock);

	@Test
	void isDueAThirdIntoTheLease() {
		Renewal renewal = renewal(LockOptions.lease(LEASE));
		assertThat(renewal.dueInNanos()).isEqualTo(LEASE.dividedBy(3).toNanos());
		this.clock.advance(LEASE.dividedBy(6).minusNanos(1));
		assertThat(renewal.canJoin()).isFalse();
		this.clock.advance(Duration.ofNanos(1));
		assertThat(renewal.canJoin()).isTrue();
	}

	@Test
	void aFailedAttemptDelaysTheNextOneBeyondAHandOver() {
		Renewal renewal = renewal(LockOptions.lease(LEASE));
		this.clock.advance(LEASE.dividedBy(2));
		renewal.retryIn(SECOND.toNanos());
		Renewal next = renewal(LockOptions.lease(LEASE));
		next.goOnFrom(renewal);
		assertThat(next.dueInNanos()).isEqualTo(SECOND.toNanos());
		assertThat(next.canJoin()).isFalse();
		this.clock.advance(SECOND);
		assertThat(next.canJoin()).isTrue();
	}

	@Test
	void goesOnUntilItIsStoppedForEachParty() {
		Renewal renewal = renewal(LockOptions.lease(LEASE).autoRenew(false));
		assertThat(renewal.isOn()).isFalse();
		renewal.startFor("work");
		renewal.startFor(Renewal.OWNER);
		assertThat(renewal.isOnForOwner()).isTrue();
		renewal.stopFor(Renewal.OWNER);
		assertThat(renewal.isOnForOwner()).isFalse();
		assertThat(renewal.isOn()).isTrue();
		renewal.stopFor("work");
		assertThat(renewal.isOn()).isFalse();
		renewal.startFor("work");
		renewal.stop();
		assertThat(renewal.isOn()).isFalse();
	}

	@Test
	void endsWithTheMaximumHoldTime() {
		Renewal renewal = renewal(LockOptions.lease(LEASE).maxHold(LEASE.multipliedBy(2)));
		this.clock.advance(LEASE.multipliedBy(2).minusNanos(1));
		assertThat(renewal.isOn()).isTrue();
		this.clock.advance(Duration.ofNanos(1));
		assertThat(renewal.isOn()).isFalse();
		assertThat(renewal.isOnForOwner()).isFalse();
	}

	private Renewal renewal(LockOptions options) {
		LeaseTerms terms = LeaseTerms.of(options.orElse(LockWorld.DEFAULTS));
		return new Renewal(terms, this.trusted, new HoldTime(terms, this.clock));
	}

}
