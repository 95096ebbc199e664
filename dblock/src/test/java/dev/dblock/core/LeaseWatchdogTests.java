package dev.dblock.core;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.core.ManualScheduler.Timed;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LockClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class LeaseWatchdogTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Duration SECOND = Duration.ofSeconds(1);

	private final WatchedLeases leases = new WatchedLeases();

	private final InMemoryLockRepository repository = this.leases.repository();

	@Test
	void aLeaseIsRenewedAfterAThirdAndNotBefore() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.leases.advanceAndRenew(Duration.ofSeconds(10).minusNanos(1));
		assertThat(this.leases.renewals("a")).isZero();
		this.leases.advanceAndRenew(Duration.ofNanos(1));
		assertThat(this.leases.renewals("a")).isEqualTo(1);
		assertThat(handle.remaining()).isEqualTo(LEASE);
		this.leases.advanceAndRenew(Duration.ofSeconds(10).minusNanos(1));
		assertThat(this.leases.renewals("a")).isEqualTo(1);
	}

	@Test
	void workOfTenLeasesIsCoveredThroughout() {
		LockHandle handle = this.leases.hold("a", LEASE);
		for (int second = 0; second < 300; second++) {
			this.leases.advanceAndRenew(SECOND);
			assertThat(handle.isHeld()).isTrue();
			assertThat(this.repository.isHeld("a")).isTrue();
		}
		assertThat(this.leases.renewals("a")).isEqualTo(30);
	}

	@Test
	void aThousandLeasesTakenAtAnyTimeCostTwoRequestsARoundAtMost() {
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < 1000; i++) {
			handles.add(this.leases.hold("lock-" + i, LEASE));
			this.leases.advanceAndRenew(Duration.ofMillis(10));
		}
		for (int round = 0; round < 5; round++) {
			int before = this.repository.count(Kind.RENEW);
			for (int step = 0; step < 100; step++) {
				this.leases.advanceAndRenew(Duration.ofMillis(100));
			}
			assertThat(this.repository.count(Kind.RENEW) - before).isBetween(1, 2);
			assertThat(handles).allMatch(LockHandle::isHeld);
		}
	}

	@Test
	void aHangingRequestOfLongLeasesDoesNotKeepAShortOneFromBeingRenewed() {
		LockHandle slow = this.leases.hold("slow", LEASE);
		this.leases.clock().advance(Duration.ofSeconds(10));
		LockHandle quick = this.leases.hold("quick", SECOND);
		this.leases.watchdog().tick();
		assertThat(this.leases.line().length()).as("the request for the long lease").isEqualTo(1);
		for (int i = 0; i < 10; i++) {
			this.leases.advance(Duration.ofMillis(400));
			assertThat(this.leases.line().length()).isEqualTo(2);
			this.leases.line().serve(1);
			assertThat(quick.isHeld()).isTrue();
		}
		assertThat(slow.isHeld()).isTrue();
		assertThat(this.leases.renewals("quick")).isEqualTo(10);
		assertThat(this.leases.renewals("slow")).isZero();
	}

	@Test
	void aHangingRequestOfLongLeasesDoesNotKeepAShortOneFromBeingReportedAsLost() {
		LockHandle slow = this.leases.hold("slow", LEASE);
		LockHandle quick = this.leases.hold("quick", SECOND);
		this.leases.clock().suspend(SECOND.minusMillis(1));
		this.leases.watchdog().tick();
		assertThat(this.leases.line().length()).isEqualTo(2);
		this.leases.advance(SECOND);
		assertThat(this.leases.news()).containsExactly("lost quick EXPIRED");
		assertThat(quick.isHeld()).isFalse();
		this.leases.line().serveAll();
		assertThat(slow.isHeld()).isTrue();
	}

	@Test
	void aLeaseIsLostAtItsEndEvenIfTheServerNeverAnswers() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.leases.advance(Duration.ofSeconds(10));
		assertThat(this.leases.line().length()).isEqualTo(1);
		this.leases.advance(Duration.ofSeconds(20).minusNanos(1));
		assertThat(this.leases.news()).isEmpty();
		assertThat(handle.isHeld()).isTrue();
		this.leases.advance(Duration.ofNanos(1));
		assertThat(this.leases.news()).containsExactly("lost a EXPIRED");
		assertThat(this.repository.isHeld("a")).as("the server still keeps others out").isTrue();
	}

	@Test
	void aFailedRenewalIsTriedAgainUntilTheLeaseEndsAndNotWithoutAPause() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.repository.always(Kind.RENEW, Fault.NO_SERVER);
		for (int tenth = 0; tenth < 299; tenth++) {
			this.leases.advanceAndRenew(Duration.ofMillis(100));
			assertThat(handle.isHeld()).isTrue();
		}
		assertThat(this.leases.renewals("a")).isBetween(19, 21);
		this.leases.advanceAndRenew(Duration.ofMillis(100));
		assertThat(this.leases.news()).containsExactly("lost a EXPIRED");
		this.leases.advanceAndRenew(LEASE);
		assertThat(this.leases.renewals("a")).isBetween(19, 21);
	}

	@Test
	void aRenewalAtTheLastMomentSavesTheLease() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.repository.always(Kind.RENEW, Fault.NO_SERVER);
		this.leases.advanceAndRenew(Duration.ofSeconds(10));
		this.leases.advanceAndRenew(Duration.ofSeconds(19).minusNanos(1));
		this.repository.heal();
		this.leases.advanceAndRenew(SECOND);
		assertThat(handle.remaining()).isEqualTo(LEASE);
	}

	@Test
	void afterAFailureTheLookComesBackWhenTheNextAttemptIsDue() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.repository.next(Kind.RENEW, Fault.NO_SERVER);
		this.leases.advanceAndRenew(Duration.ofSeconds(10));
		assertThat(this.leases.watchdog().tick()).isEqualTo(SECOND.toNanos());
		assertThat(this.leases.line().length()).isZero();
		this.leases.advanceAndRenew(SECOND);
		assertThat(handle.remaining()).isEqualTo(LEASE);
	}

	@Test
	void anErrorInTheRequestIsTriedAgainAfterAPauseToo() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.repository.next(Kind.RENEW, Fault.lost(() -> new NoClassDefFoundError("scripted")));
		this.leases.advanceAndRenew(Duration.ofSeconds(10));
		this.leases.advanceAndRenew(Duration.ofMillis(1));
		assertThat(this.leases.renewals("a")).isEqualTo(1);
		this.leases.advanceAndRenew(SECOND);
		assertThat(handle.remaining()).isEqualTo(LEASE);
	}

	@Test
	void aRenewalThatFindsNoThreadIsHandedOverSoonAfter() {
		this.leases.hold("a", LEASE);
		LockHandle handle = this.leases.hold("b", LEASE);
		this.leases.line().full(true);
		this.leases.clock().advance(Duration.ofSeconds(10));
		assertThat(this.leases.watchdog().tick()).isLessThanOrEqualTo(Duration.ofMillis(10).toNanos());
		this.leases.line().full(false);
		this.leases.advanceAndRenew(Duration.ofMillis(10));
		assertThat(handle.remaining()).isEqualTo(LEASE);
	}

	@Test
	void aMachineWithoutThreadsDoesNotEndTheRenewals() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.leases.line().breakWith(new OutOfMemoryError("unable to create native thread (scripted)"));
		this.leases.clock().advance(Duration.ofSeconds(10));
		this.leases.timer().runNext();
		this.leases.line().breakWith(null);
		this.leases.timer().runNext();
		this.leases.line().serveAll();
		assertThat(handle.remaining()).isEqualTo(LEASE);
	}

	@Test
	void aRenewalThatFailsInAnyWayIsRetriedAfterAPause() {
		AtomicBoolean broken = new AtomicBoolean();
		Lease granted = this.leases.grant("a", LockOptions.defaults());
		Lease lease = new Lease(granted.grant(), granted.terms(), Thread.currentThread(), granted.deadline(),
				new LockClock() {

					@Override
					public long nanoTime() {
						if (broken.get()) {
							throw new StackOverflowError("scripted");
						}
						return LeaseWatchdogTests.this.leases.clock().nanoTime();
					}

					@Override
					public long wallMillis() {
						return LeaseWatchdogTests.this.leases.clock().wallMillis();
					}

				});
		LockHandle handle = this.leases.keeper().keep(lease);
		this.leases.advance(Duration.ofSeconds(10));
		this.leases.postponeTick();
		broken.set(true);
		this.leases.line().serveAll();
		broken.set(false);
		assertThat(this.leases.timer().pending()).extracting(Timed::delay).containsExactly(Duration.ofMillis(100));
		this.leases.timer().runNext();
		this.leases.line().serveAll();
		assertThat(handle.remaining()).isEqualTo(LEASE);
	}

	@Test
	void aCheckThatFailsDoesNotStopTheChecks() {
		LeaseWatchdog watchdog = new LeaseWatchdog(this.leases.registry(), this.leases.losses(), (lease) -> {
			throw new StackOverflowError("scripted");
		}, this.leases::newRenewer, this.leases.timer(), this.leases.line(), this.leases.clock());
		watchdog.watch(this.leases.grant("forgotten", LockOptions.defaults()));
		for (int i = 0; i < 3; i++) {
			this.leases.timer().runNext();
		}
		assertThat(this.leases.timer().pending()).hasSize(1);
	}

	@Test
	void nothingTicksWhileNothingIsHeld() {
		assertThat(this.leases.timer().pending()).isEmpty();
		LockHandle handle = this.leases.hold("a", LEASE);
		this.leases.timer().runNext();
		assertThat(this.leases.timer().pending()).hasSize(1);
		handle.release();
		this.leases.timer().runNext();
		assertThat(this.leases.timer().pending()).isEmpty();
		this.leases.hold("b", LEASE);
		assertThat(this.leases.timer().pending()).hasSize(1);
	}

	@Test
	void theClocksAreComparedAtLeastOnceASecond() {
		this.leases.hold("a", Duration.ofDays(1));
		assertThat(this.leases.timer().pending()).extracting(Timed::delay).containsExactly(SECOND);
		this.leases.timer().runNext();
		assertThat(this.leases.timer().pending()).extracting(Timed::delay).containsExactly(SECOND);
	}

	@Test
	void aNewLeaseIsCheckedWhenItIsDueEvenIfTheNextCheckWasFurtherOff() {
		this.leases.hold("a", LEASE);
		this.leases.postponeTick();
		this.leases.hold("b", Duration.ofMillis(600));
		assertThat(this.leases.timer().pending()).hasSize(1)
			.allMatch((tick) -> tick.delay().compareTo(Duration.ofMillis(200)) <= 0);
		this.leases.hold("c", LEASE);
		assertThat(this.leases.timer().pending()).hasSize(1)
			.allMatch((tick) -> tick.delay().compareTo(Duration.ofMillis(200)) <= 0);
	}

	@Test
	void aLeaseThatIsNotRenewedIsCheckedWhenItEnds() {
		this.leases.keeper().keep(this.leases.grant("a", LockOptions.lease(Duration.ofMillis(600)).autoRenew(false)));
		assertThat(this.leases.timer().pending()).extracting(Timed::delay).containsExactly(Duration.ofMillis(600));
	}

	@Test
	void aCheckThatWasReplacedWhileItBeganDoesNotContinueBesideItsReplacement() {
		LockHandle handle = this.leases.hold("a", LEASE);
		Timed replaced = this.leases.timer().pending().get(0);
		this.leases.postponeTick();
		this.leases.watchdog().tickWithin(0);
		replaced.runLate();
		for (int i = 0; i < 3; i++) {
			this.leases.timer().runNext();
		}
		assertThat(this.leases.timer().pending()).hasSize(1);
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void aTimerThatFailedOnceIsUsedAgain() {
		LockHandle first = this.leases.hold("a", LEASE);
		this.leases.postponeTick();
		this.leases.timer().breakWith(new OutOfMemoryError("scripted"));
		assertThatThrownBy(() -> this.leases.hold("b", Duration.ofMillis(600))).isInstanceOf(OutOfMemoryError.class);
		assertThat(this.repository.isHeld("b")).as("a grant without a receiver").isFalse();
		this.leases.timer().breakWith(null);
		this.leases.timer().runNext();
		assertThat(this.leases.timer().pending()).hasSize(1);
		assertThat(first.isHeld()).isTrue();
		assertThat(this.leases.news()).isEmpty();
	}

	@Test
	void afterAShutdownNothingIsWatched() {
		this.leases.timer().shutdown();
		LockHandle handle = this.leases.hold("a", LEASE);
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.leases.timer().pending()).isEmpty();
	}

	@Test
	void afterASuspensionEveryLeaseIsUnprovenUntilTheServerHasConfirmedIt() {
		LockHandle brief = this.leases.hold("brief", LEASE);
		LockHandle lengthy = this.leases.hold("lengthy", Duration.ofHours(1));
		this.leases.clock().suspend(Duration.ofSeconds(20));
		assertThat(brief.isHeld()).isFalse();
		assertThat(lengthy.isHeld()).isFalse();
		assertThat(brief.remaining()).isZero();
		this.leases.watchdog().tick();
		assertThat(brief.isHeld()).isFalse();
		this.leases.line().serveAll();
		assertThat(brief.isHeld()).isTrue();
		assertThat(lengthy.isHeld()).isTrue();
		assertThat(this.leases.news()).isEmpty();
	}

	@Test
	void afterASuspensionBeyondItsEndALeaseIsLost() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.leases.clock().suspend(LEASE.plusSeconds(1));
		this.leases.watchdog().tick();
		assertThat(this.leases.news()).isEmpty();
		this.leases.line().serveAll();
		assertThat(this.leases.news()).containsExactly("lost a EXPIRED");
		assertThat(handle.isHeld()).isFalse();
	}

	@Test
	void aWallClockThatWasSetBackBeforeHidesNoSuspension() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.leases.clock().advanceWall(Duration.ofSeconds(-20));
		this.leases.watchdog().tick();
		assertThat(handle.isHeld()).isTrue();
		this.leases.clock().suspend(Duration.ofSeconds(20));
		assertThat(handle.isHeld()).isFalse();
		this.leases.watchdog().tick();
		this.leases.line().serveAll();
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void aWallClockThatIsSetBackAfterwardsProvesNothing() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.leases.clock().suspend(Duration.ofSeconds(20));
		this.leases.watchdog().tick();
		this.leases.clock().advanceWall(Duration.ofSeconds(-20));
		assertThat(handle.isHeld()).isFalse();
		this.leases.line().serveAll();
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void anUnprovenLeaseIsTriedAgainWithPausesAndStaysUnproven() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.leases.clock().suspend(SECOND);
		this.repository.always(Kind.RENEW, Fault.NO_SERVER);
		for (int i = 0; i < 100; i++) {
			this.leases.advanceAndRenew(Duration.ofMillis(100));
			assertThat(handle.isHeld()).isFalse();
		}
		assertThat(this.leases.renewals("a")).isBetween(9, 11);
		this.repository.heal();
		this.leases.advanceAndRenew(SECOND);
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void anUnprovenLeaseWhoseRenewalIsOffIsLeftToItsOwner() {
		LockHandle handle = this.leases.keeper().keep(this.leases.grant("a", LockOptions.defaults().autoRenew(false)));
		this.leases.clock().suspend(SECOND);
		this.leases.advanceAndRenew(SECOND);
		assertThat(this.leases.renewals("a")).isZero();
		assertThat(handle.isHeld()).isFalse();
		handle.ensureHeld();
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.leases.renewals("a")).isEqualTo(1);
	}

	@Test
	void aLostLeaseIsForgottenWhenItsOwnerHasFinished() {
		LockHandle first = this.leases.hold("a", LEASE);
		LockHandle second = this.leases.hold("b", LEASE);
		this.leases.advance(LEASE);
		assertThat(this.leases.registry().unfinished()).isEqualTo(2);
		assertThat(first.release()).isFalse();
		assertThat(this.leases.registry().unfinished()).isEqualTo(1);
		assertThatThrownBy(second::close).isInstanceOf(LockLostException.class);
		assertThat(this.leases.registry().unfinished()).isZero();
	}

	@Test
	void aLeaseWhoseLossItsReleaseFindsIsForgottenAtOnce() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.leases.clock().advance(LEASE);
		assertThat(handle.release()).isFalse();
		assertThat(this.leases.news()).containsExactly("lost a EXPIRED");
		assertThat(this.leases.registry().unfinished()).isZero();
	}

	@Test
	void aLostLeaseWhoseHandleWasForgottenIsForgottenAtTheNextLook() {
		WeakReference<LockHandle> forgotten = new WeakReference<>(lost("a"));
		assertThat(this.leases.registry().unfinished()).isEqualTo(1);
		LockWorld.eventually().until(() -> {
			System.gc();
			return forgotten.get() == null;
		});
		this.leases.watchdog().tick();
		assertThat(this.leases.registry().unfinished()).isZero();
	}

	@Test
	void anUnreferencedLostLeaseIsForgottenAtOnce() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.leases.advance(LEASE);
		this.leases.keeper().completion().discard(((LeaseHandle) handle).lease());
		assertThat(this.leases.registry().unfinished()).isZero();
	}

	private LockHandle lost(String name) {
		LockHandle handle = this.leases.keeper().keep(this.leases.grant(name, LockOptions.defaults()));
		this.leases.advance(LEASE);
		assertThat(handle.isHeld()).isFalse();
		return handle;
	}

	@Test
	void aLockWhoseHandleIsUnreachableEndsWithItsLeaseAndNotBefore(CapturedOutput output) {
		WeakReference<LockHandle> forgotten = new WeakReference<>(
				this.leases.keeper().keep(this.leases.grant("a", LockOptions.defaults())));
		LockHandle kept = this.leases.hold("b", LEASE);
		LockWorld.eventually().until(() -> {
			System.gc();
			return forgotten.get() == null;
		});
		for (Duration third = LEASE.dividedBy(3),
				passed = third; passed.compareTo(LEASE) < 0; passed = passed.plus(third)) {
			this.leases.advanceAndRenew(third);
			assertThat(this.repository.isHeld("a")).isTrue();
			assertThat(this.leases.registry().all()).hasSize(2);
		}
		this.leases.advanceAndRenew(LEASE.dividedBy(3));
		assertThat(this.repository.count(Kind.RELEASE, "a")).isZero();
		assertThat(this.leases.renewals("a")).isZero();
		assertThat(kept.isHeld()).isTrue();
		assertThat(this.leases.registry().all()).hasSize(1);
		assertThat(output.getAll().lines().filter((line) -> line.contains("was never released"))).singleElement()
			.asString()
			.contains("WARN", "'a'", "it is not released now", "becomes free when its lease ends, in 20 s",
					"LockHandle.keepUntilShutdown()");
	}

	@Test
	void leaseReleasedDuringACheckIsNotReportedAsForgotten(CapturedOutput output) {
		LeaseHandle handle = this.leases.hold("a", LEASE);
		handle.release();
		// The check found the lease before, and the handle was collected since
		LeaseCompletion.abandon(handle.lease());
		assertThat(output.getAll()).doesNotContain("was never released");
	}

	@Test
	void aReleasedLeaseIsNotRenewed() {
		LockHandle handle = this.leases.hold("a", LEASE);
		this.leases.advance(Duration.ofSeconds(10));
		assertThat(this.leases.line().length()).isEqualTo(1);
		handle.release();
		this.leases.line().serveAll();
		this.leases.advanceAndRenew(Duration.ofSeconds(10));
		assertThat(this.leases.renewals("a")).isZero();
	}

	@Test
	void aRenewalThatWasStoppedIsNotSent() {
		LockHandle handle = this.leases.hold("a", LEASE);
		handle.stopRenewal();
		this.leases.advanceAndRenew(LEASE.minusNanos(1));
		assertThat(this.leases.renewals("a")).isZero();
		this.leases.advanceAndRenew(Duration.ofNanos(1));
		assertThat(this.leases.news()).containsExactly("lost a EXPIRED");
	}

	@Test
	void theMaximumHoldEndsTheRenewal() {
		LockHandle handle = this.leases.keeper()
			.keep(this.leases.grant("a", LockOptions.defaults().maxHold(Duration.ofSeconds(100))));
		for (int second = 1; second < 120; second++) {
			this.leases.advanceAndRenew(SECOND);
			assertThat(handle.isHeld()).isTrue();
		}
		this.leases.advanceAndRenew(SECOND);
		assertThat(this.leases.news()).containsExactly("lost a MAX_HOLD");
		assertThat(handle.isHeld()).isFalse();
	}

	@Test
	void anExtendedLeaseIsRenewedWhenTheExtensionNearsItsEnd() {
		LockHandle handle = this.leases.hold("a", LEASE);
		handle.extend(Duration.ofMinutes(5));
		this.leases.advanceAndRenew(Duration.ofSeconds(279));
		assertThat(this.leases.renewals("a")).isZero();
		this.leases.advanceAndRenew(SECOND);
		assertThat(this.leases.renewals("a")).isEqualTo(1);
		assertThat(handle.remaining()).isEqualTo(LEASE);
	}

}
