package dev.dblock.core;

import java.time.Duration;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.core.Request.Kind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A machine that is suspended while a request is under way.
 */
@Timeout(120)
class SuspensionTests {

	private static final LockOptions UNRENEWED = LockOptions.defaults().autoRenew(false);

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	@AfterEach
	void close() {
		this.repository.heal();
		this.world.close();
	}

	@Test
	void ensureHeldAsksAgainAfterAMachineThatSleptWhileItAsked() {
		LockHandle handle = this.world.template().acquire("a", UNRENEWED);
		this.world.clock().suspend(Duration.ofSeconds(5));
		suspendDuringTheNextRenewal(LockWorld.LEASE.plusSeconds(1));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::ensureHeld);
		assertThat(this.repository.isHeld("a")).isFalse();
	}

	@Test
	void ensureHeldDoesNotReturnWhileTheLeaseIsUnproven() {
		LockHandle handle = this.world.template().acquire("a", UNRENEWED);
		this.world.clock().suspend(Duration.ofSeconds(1));
		suspendDuringTheNextRenewal(Duration.ofSeconds(1));
		suspendDuringTheNextRenewal(Duration.ofSeconds(1));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(handle::ensureHeld)
			.withMessageContaining("'a'");
		assertThat(handle.isHeld()).isFalse();
		handle.ensureHeld();
		assertThat(handle.isHeld()).isTrue();
	}

	private void suspendDuringTheNextRenewal(Duration time) {
		this.repository.next(Kind.RENEW, Fault.before(() -> this.world.clock().suspend(time)));
	}

	@Test
	void anExtensionThatComesTooLateIsReportedLikeSuchARenewal() {
		LockHandle renewed = this.world.template().acquire("a", UNRENEWED);
		LockHandle extended = this.world.template().acquire("b", UNRENEWED);
		this.world.clock().suspend(LockWorld.LEASE.plusSeconds(1));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(renewed::renew)
			.satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> extended.extend(Duration.ofMinutes(1)))
			.satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED));
	}

	@Test
	void aSuspensionDuringARenewalIsNotHiddenByAWallClockThatIsSetBackBeforeItsAnswer() {
		WatchedLeases leases = new WatchedLeases();
		LeaseHandle handle = leases.hold("a", LockWorld.LEASE);
		leases.repository().next(Kind.RENEW, Fault.before(() -> {
			leases.clock().suspend(LockWorld.LEASE.multipliedBy(2));
			leases.watchdog().tick();
			assertThat(handle.isHeld()).isFalse();
			leases.clock().advanceWall(LockWorld.LEASE.multipliedBy(-2));
		}));
		leases.advanceAndRenew(Duration.ofSeconds(10));
		assertThat(leases.repository().isHeld("a")).as("at the server").isFalse();
		assertThat(handle.isHeld()).isFalse();
	}

	@Test
	void aSuspensionDuringARenewalIsNotHiddenByAWallClockThatWasSetBackMeanwhile() {
		WatchedLeases leases = new WatchedLeases();
		LeaseHandle handle = leases.hold("a", LockWorld.LEASE);
		leases.repository().next(Kind.RENEW, Fault.before(() -> {
			leases.clock().advanceWall(LockWorld.LEASE.multipliedBy(-2));
			leases.watchdog().tick();
			leases.clock().suspend(LockWorld.LEASE.multipliedBy(2));
			leases.watchdog().tick();
		}));
		leases.advanceAndRenew(Duration.ofSeconds(10));
		assertThat(leases.repository().isHeld("a")).as("at the server").isFalse();
		assertThat(handle.isHeld()).isFalse();
	}

	@Test
	void refusedExtensionIsALossAtOnce() {
		LockHandle handle = this.world.template().acquire("a", UNRENEWED);
		this.world.rob("a");
		this.repository.always(Kind.RENEW, Fault.lost(() -> new QueryTimeoutException("no answer")));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> handle.extend(Duration.ofMinutes(1)))
			.satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.TAKEN_OVER));
		assertThat(this.repository.count(Kind.RENEW)).isZero();
	}

	@Test
	void suspensionIsCountedOnce() {
		WatchedLeases leases = new WatchedLeases();
		LeaseHandle handle = leases.hold("a", LockWorld.LEASE);
		handle.stopRenewal();
		handle.extend(Duration.ofHours(2));
		leases.clock().suspend(Duration.ofHours(1));
		leases.repository().next(Kind.RENEW, Fault.before(() -> {
			leases.clock().advanceNano(Duration.ofNanos(5));
			leases.watchdog().tick();
		}));
		handle.ensureHeld();
		leases.advance(LockWorld.LEASE.plusSeconds(1));
		assertThat(leases.repository().isHeld("a")).isTrue();
		assertThat(handle.isHeld()).as("the server keeps it for most of an hour").isTrue();
	}

}
