package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LossReason;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.lease.LockClock;
import dev.dblock.engine.HeldLock;
import dev.dblock.observation.LockObservations;
import dev.dblock.observation.LockObserver;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.testing.StructuredLog;
import org.bson.Document;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class LeaseRenewerTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final Fault TIMEOUT = Fault.lost(Fault.timeout());

	private final WatchedLeases leases = new WatchedLeases();

	private final InMemoryLockRepository repository = this.leases.repository();

	private final LeaseRenewer renewer = this.leases.newRenewer();

	private final List<LockHandle> handles = new ArrayList<>();

	private List<Lease> hold(int count) {
		IntStream.range(0, count).forEach((i) -> this.handles.add(this.leases.hold("lock-" + i, LEASE)));
		return List.copyOf(this.leases.registry().all());
	}

	private List<Integer> batchSizes() {
		return this.repository.requests(Kind.RENEW).stream().map((request) -> request.leases().size()).toList();
	}

	@Test
	void manyLeasesAreRenewedByFewRequests() {
		List<Lease> held = hold(12_000);
		this.leases.clock().advance(Duration.ofSeconds(10));
		this.renewer.renew(held);
		assertThat(batchSizes()).containsExactly(5000, 5000, 2000);
		assertThat(held).allMatch((lease) -> lease.remainingNanos() == LEASE.toNanos());
	}

	@Test
	void aLeaseWhoseRenewalWasStoppedWhileItsBatchWasWaitingIsNotRenewed() {
		List<Lease> due = hold(2);
		((HeldLock) this.handles.get(0)).extendExactly(Duration.ofSeconds(5), Duration.ZERO);
		this.renewer.renew(due);
		assertThat(batchSizes()).containsExactly(1);
		assertThat(this.handles.get(0).remaining()).isEqualTo(Duration.ofSeconds(5));
	}

	@Test
	void aRequestMayTakeASixthOfItsShortestLease() {
		this.leases.hold("day", Duration.ofDays(1));
		this.renewer.renew(List.copyOf(this.leases.registry().all()));
		this.leases.hold("minute", Duration.ofMinutes(1));
		this.leases.hold("half", LEASE);
		this.renewer.renew(List.copyOf(this.leases.registry().all()));
		assertThat(this.repository.requests(Kind.RENEW)).extracting(Request::timeout)
			.containsExactly(Duration.ofSeconds(30), Duration.ofSeconds(5));
	}

	@Test
	void theLeasesThatEndFirstAreSentFirst() {
		this.leases.hold("late", LEASE);
		this.leases.clock().advance(Duration.ofSeconds(-5));
		this.leases.hold("early", LEASE);
		this.repository.next(Kind.RENEW, TIMEOUT);
		List<Lease> held = List.copyOf(this.leases.registry().all());
		this.renewer.renew(held);
		this.renewer.renew(held);
		assertThat(this.repository.requests(Kind.RENEW).stream().skip(1).map((request) -> request.lease().name()))
			.containsExactly("early", "late");
	}

	@Test
	void afterATimeOutTheRequestsAreHalvedAndGrowAgainAfterSuccess() {
		List<Lease> held = hold(16);
		this.repository.next(Kind.RENEW, TIMEOUT);
		this.renewer.renew(held);
		this.repository.next(Kind.RENEW, TIMEOUT);
		this.renewer.renew(held);
		this.renewer.renew(held);
		assertThat(batchSizes()).containsExactly(16, 8, 4, 4, 16);
	}

	@Test
	void aRequestIsNeverHalvedToNothing() {
		List<Lease> held = hold(2);
		this.repository.always(Kind.RENEW, TIMEOUT);
		for (int i = 0; i < 5; i++) {
			this.renewer.renew(held);
		}
		this.repository.heal();
		this.renewer.renew(held);
		assertThat(batchSizes()).startsWith(2, 1, 1, 1, 1).endsWith(1, 1);
	}

	@Test
	void anErrorThatIsNoTimeOutHalvesNothing() {
		List<Lease> held = hold(8);
		this.repository.next(Kind.RENEW, Fault.NO_SERVER);
		this.renewer.renew(held);
		this.renewer.renew(held);
		assertThat(batchSizes()).containsExactly(8, 8);
	}

	@Test
	void afterTwoFailuresInARowTheRestIsPutOff() {
		List<Lease> held = hold(8);
		this.repository.next(Kind.RENEW, TIMEOUT, TIMEOUT, Fault.NO_SERVER, Fault.NO_SERVER);
		this.renewer.renew(held);
		this.renewer.renew(held);
		assertThat(batchSizes()).containsExactly(8, 4, 2);
		assertThat(held).allMatch((lease) -> lease.renewal().retryDueInNanos() == Duration.ofSeconds(1).toNanos());
	}

	@Test
	void aSuccessInBetweenStartsTheCountOfFailuresAgain() {
		List<Lease> held = hold(8);
		this.repository.next(Kind.RENEW, TIMEOUT);
		this.renewer.renew(held);
		this.repository.next(Kind.RENEW, TIMEOUT, Fault.after(() -> {
		}), TIMEOUT);
		this.renewer.renew(held);
		assertThat(batchSizes()).containsExactly(8, 4, 2, 2);
	}

	@Test
	void theOnlyLockThatCouldNotBeRenewedIsNamedInTheFieldsOfTheLog() {
		Lease only = hold(1).get(0);
		this.repository.next(Kind.RENEW, Fault.NO_SERVER);
		try (StructuredLog log = new StructuredLog("ecs")) {
			this.renewer.renew(List.of(only));
			assertThat(log.line("1 of this process's locks could not be renewed").get("dblock"))
				.isEqualTo(new Document(Map.of("name", "lock-0", "token", Long.toString(only.token()))));
		}
	}

	@Test
	void ofSeveralNoneIsNamedInTheFieldsOfTheLog() {
		List<Lease> held = hold(2);
		this.repository.next(Kind.RENEW, Fault.NO_SERVER);
		try (StructuredLog log = new StructuredLog("ecs")) {
			this.renewer.renew(held);
			assertThat(log.line("2 of this process's locks could not be renewed")).doesNotContainKey("dblock");
		}
	}

	@Test
	void aFailureIsTriedAgainAfterATwelfthOfTheLeaseOrASecond() {
		Lease brief = this.leases.hold("brief", Duration.ofSeconds(6)).lease();
		Lease lengthy = this.leases.hold("lengthy", LEASE).lease();
		this.repository.always(Kind.RENEW, Fault.NO_SERVER);
		this.renewer.renew(List.of(brief, lengthy));
		assertThat(brief.renewal().retryDueInNanos()).isEqualTo(Duration.ofMillis(500).toNanos());
		assertThat(lengthy.renewal().retryDueInNanos()).isEqualTo(Duration.ofSeconds(1).toNanos());
	}

	@Test
	void aRenewalCountsFromBeforeItWasSent() {
		List<Lease> held = hold(1);
		this.leases.clock().advance(Duration.ofSeconds(10));
		this.repository.next(Kind.RENEW, Fault.before(() -> this.leases.clock().advance(Duration.ofSeconds(4))));
		this.renewer.renew(held);
		assertThat(held.get(0).remainingNanos()).isEqualTo(Duration.ofSeconds(26).toNanos());
	}

	@Test
	void anAnswerThatWasOvertakenShortensNothing() {
		List<Lease> held = hold(1);
		this.repository.next(Kind.RENEW, Fault.before(() -> {
			this.leases.clock().advance(Duration.ofSeconds(10));
			this.leases.newRenewer().renew(held);
		}));
		this.renewer.renew(held);
		assertThat(held.get(0).remainingNanos()).isEqualTo(LEASE.toNanos());
	}

	@Test
	void aLeaseThatAnotherHasTakenOverIsLost() {
		List<Lease> held = hold(2);
		this.repository.forceReleaseNow("lock-0");
		this.repository.acquire(new AcquireRequest(new LeaseKey("lock-0", "other"), LEASE, "them", "main", "", LEASE));
		this.renewer.renew(held);
		assertThat(this.leases.news()).containsExactly("lost lock-0 TAKEN_OVER");
		assertThat(this.handles.get(0).isHeld()).isFalse();
		assertThat(this.handles.get(1).isHeld()).isTrue();
		assertThat(this.leases.registry().all()).extracting((lease) -> lease.key().name()).containsExactly("lock-1");
	}

	@Test
	void aLeaseThatAnotherProcessReleasedIsLost() {
		List<Lease> held = hold(1);
		this.repository.forceReleaseNow("lock-0");
		this.renewer.renew(held);
		assertThat(this.leases.news()).containsExactly("lost lock-0 TAKEN_OVER");
	}

	@Test
	void aForciblyReleasedLeaseIsLostBeforeItsNameIsFree() {
		List<Lease> held = hold(1);
		this.repository.forceRelease("lock-0");
		this.renewer.renew(held);
		assertThat(this.leases.news()).containsExactly("lost lock-0 TAKEN_OVER");
		assertThat(this.repository.peek("lock-0").remaining()).isPositive();
	}

	@Test
	void aLeaseWhoseDocumentIsGoneIsLost() {
		List<Lease> held = hold(1);
		this.repository.delete("lock-0");
		this.renewer.renew(held);
		assertThat(this.leases.news()).containsExactly("lost lock-0 TAKEN_OVER");
	}

	@Test
	void aLeaseThatTheServerLetEndIsLostAndNotRevived() {
		List<Lease> held = hold(1);
		this.leases.clock().advanceServer(LEASE.plusMillis(530));
		this.renewer.renew(held);
		assertThat(this.leases.news()).containsExactly("lost lock-0 EXPIRED");
		assertThat(this.repository.isHeld("lock-0")).isFalse();
	}

	@Test
	void aLeaseThatWasReleasedWhileTheRequestWasUnderWayIsNotLost() {
		List<Lease> held = hold(1);
		this.repository.next(Kind.RENEW, Fault.after(() -> this.handles.get(0).release()));
		this.renewer.renew(held);
		assertThat(this.leases.news()).containsExactly("released lock-0");
		assertThat(held.get(0).end()).isEqualTo(LossReason.RELEASED);
	}

	@Test
	void aLeaseThatWasReleasedBeforeTheAnswerArrivedStaysReleased() {
		List<Lease> held = hold(1);
		this.repository.next(Kind.RENEW, Fault.before(() -> this.handles.get(0).release()));
		this.renewer.renew(held);
		assertThat(this.leases.news()).containsExactly("released lock-0");
		assertThat(this.handles.get(0).isHeld()).isFalse();
		assertThat(this.repository.isHeld("lock-0")).isFalse();
	}

	@Test
	void aLeaseThatWasLostWhileTheRequestWasUnderWayStaysLost() {
		List<Lease> held = hold(1);
		this.repository.next(Kind.RENEW, Fault.before(() -> this.leases.advance(LEASE)));
		this.renewer.renew(held);
		assertThat(this.leases.news()).containsExactly("lost lock-0 EXPIRED");
		assertThat(this.handles.get(0).isHeld()).isFalse();
	}

	@Test
	void leasesThatEndAtAboutTheSameMomentAreSortedWhileTheClockAdvances() {
		Random random = new Random(42);
		AtomicLong nanos = new AtomicLong();
		LockClock going = new LockClock() {

			@Override
			public long nanoTime() {
				return nanos.addAndGet(50);
			}

			@Override
			public long wallMillis() {
				return nanos.get() / 1_000_000;
			}

		};
		List<Lease> close = new ArrayList<>();
		for (int i = 0; i < 2000; i++) {
			Lease granted = this.leases.grant("lock-" + i, LockOptions.defaults());
			LeaseDeadline deadline = new LeaseDeadline(random.nextInt(1000), 0, LEASE.toNanos());
			close.add(new Lease(granted.grant(), granted.terms(), Thread.currentThread(), deadline, going));
		}
		close.forEach(this.leases.registry()::add);
		new LeaseRenewer(this.repository, this.leases.registry(), this.leases.queues(), this.leases.losses(),
				new LockObservations(LockObserver.NONE), going)
			.renew(close);
		assertThat(batchSizes()).containsExactly(2000);
	}

	@Test
	void aRequestWithoutLeasesIsNotSent() {
		List<Lease> held = hold(2);
		this.handles.forEach(LockHandle::release);
		this.renewer.renew(held);
		assertThat(this.repository.count(Kind.RENEW)).isZero();
	}

	@Test
	void aFailedRenewalOfAReleasedLeaseIsIgnored() {
		List<Lease> held = hold(1);
		this.repository.next(Kind.RENEW, (request, store) -> {
			this.handles.get(0).release();
			throw Fault.timeout().get();
		});
		this.renewer.renew(held);
		assertThat(held.get(0).renewal().retryDueInNanos()).isNotPositive();
	}

	@Test
	void aManualRenewalThatFindsTheLockTakenOverLosesIt() {
		LeaseHandle handle = this.leases.keeper().keep(this.leases.grant("a", LockOptions.defaults().autoRenew(false)));
		this.repository.next(Kind.RENEW, Fault.stale(Map.of(handle.lease().key(), Optional.empty())));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::renew)
			.satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.TAKEN_OVER));
		assertThat(this.leases.news()).containsExactly("lost a TAKEN_OVER");
	}

}
