package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.job.JobFiring;
import dev.dblock.job.JobRun;
import dev.dblock.observation.LockObservations;
import dev.dblock.observation.LockObserver;
import dev.dblock.store.AcquireRequest;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.RepositoryInterruptedException;
import dev.dblock.support.Durations;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.QueryTimeoutException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for {@link LeaseReleaser}, mostly through the handle.
 */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class LeaseReleaserTests {

	private static final LockOptions RUN = LockOptions.defaults().claim(JobFiring.at(Instant.EPOCH));

	@RegisterExtension
	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private int releases() {
		return this.repository.count(Kind.RELEASE, "a");
	}

	@Test
	void aReleaseFreesTheNameInOneRequest() {
		assertThat(this.world.acquire("a").release()).isTrue();
		assertThat(releases()).isEqualTo(1);
		assertThat(this.repository.isHeld("a")).isFalse();
		assertThat(this.world.news()).containsExactly("acquired a", "released a");
	}

	@Test
	void aReleaseIsTriedThreeTimesWithAGrowingPauseBetween() {
		LockHandle handle = this.world.acquire("a");
		this.repository.always(Kind.RELEASE, Fault.NO_SERVER);
		long start = System.nanoTime();
		assertThatThrownBy(handle::release).isInstanceOf(DataAccessResourceFailureException.class);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(250));
		assertThat(releases()).isEqualTo(3);
		assertThat(handle.isHeld()).as("it counts as released nevertheless").isFalse();
		assertThat(this.world.news()).containsExactly("acquired a", "released a");
	}

	@Test
	void theThirdAttemptMaySucceed() {
		LockHandle handle = this.world.acquire("a");
		this.repository.next(Kind.RELEASE, Fault.NO_SERVER, Fault.NO_SERVER);
		assertThat(handle.release()).isTrue();
		assertThat(releases()).isEqualTo(3);
		assertThat(this.repository.isHeld("a")).isFalse();
	}

	@Test
	void aRepeatThatFindsNothingAfterASuspensionMayBeAnUnnoticedLoss() {
		LockHandle handle = this.world.acquire("a");
		this.world.clock().suspend(Duration.ofSeconds(5));
		this.world.rob("a");
		this.repository.next(Kind.RELEASE, Fault.NO_SERVER);
		assertThat(handle.release()).isFalse();
		assertThat(releases()).isEqualTo(2);
		assertThat(this.repository.isHeld("a")).isTrue();
	}

	@Test
	void anErrorThatIsNoneOfTheStoresIsTriedAgainToo() {
		LockHandle handle = this.world.acquire("a");
		this.repository.next(Kind.RELEASE, Fault.lost(() -> new IllegalStateException("no session")));
		assertThat(handle.release()).isTrue();
		assertThat(releases()).isEqualTo(2);
	}

	@Test
	void aRepeatThatFindsNothingAfterADoubtCountsAsReleased() {
		LockHandle handle = this.world.acquire("a");
		this.repository.next(Kind.RELEASE, Fault.answerLost(Fault.timeout()));
		assertThat(handle.release()).isTrue();
		assertThat(releases()).isEqualTo(2);
		assertThat(this.world.news()).containsExactly("acquired a", "released a");
	}

	@Test
	void aFirstAttemptThatFindsNothingMeansThatTheLockWasTakenOver() {
		LockHandle handle = this.world.acquire("a");
		this.world.rob("a");
		assertThat(handle.release()).isFalse();
		assertThat(this.repository.isHeld("a")).as("by the other").isTrue();
		assertThat(releases()).isEqualTo(1);
	}

	@Test
	void aLockThatWasTakenOverBeforeItsReleaseIsReportedAsLost() throws Exception {
		LockHandle handle = this.world.acquire("a");
		CountDownLatch notified = new CountDownLatch(1);
		handle.onLost((reason) -> notified.countDown());
		this.world.rob("a");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::close)
			.satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.TAKEN_OVER));
		notified.await();
		LockWorld.eventually().until(() -> this.world.news().equals(List.of("acquired a", "lost a TAKEN_OVER")));
	}

	@Test
	void noAttemptFollowsTheEndOfTheLease() {
		LockHandle handle = this.world.acquire("a");
		this.repository.next(Kind.RELEASE, (request, store) -> {
			this.world.clock().advance(LockWorld.LEASE);
			throw new QueryTimeoutException("time limit");
		});
		assertThatThrownBy(handle::release).isInstanceOf(QueryTimeoutException.class);
		assertThat(releases()).isEqualTo(1);
	}

	@Test
	void noAttemptMayTakeMuchLongerThanWhatIsLeftOfTheLease() {
		LockHandle early = this.world.acquire("a");
		early.release();
		LockHandle late = this.world.acquireUnrenewed("a");
		this.world.clock().advance(Duration.ofSeconds(28));
		late.release();
		LockHandle last = this.world.acquireUnrenewed("a");
		this.world.clock().advance(LockWorld.LEASE.minusMillis(1));
		last.release();
		assertThat(this.repository.requests(Kind.RELEASE, "a")).extracting(Request::timeout)
			.containsExactly(LockWorld.TIMEOUT.dividedBy(2), Duration.ofSeconds(1), Duration.ofMillis(500));
	}

	@Test
	void allAttemptsTogetherTakeNoLongerThanOneRequestMay() {
		LockHandle handle = this.world.acquire("a");
		this.repository.always(Kind.RELEASE, (request, store) -> {
			this.world.clock().advance(request.timeout());
			throw new QueryTimeoutException("time limit");
		});
		assertThatThrownBy(handle::release).isInstanceOf(QueryTimeoutException.class);
		assertThat(this.repository.requests(Kind.RELEASE, "a")).extracting(Request::timeout)
			.containsExactly(LockWorld.TIMEOUT.dividedBy(2), LockWorld.TIMEOUT.dividedBy(4),
					LockWorld.TIMEOUT.dividedBy(4));
	}

	@Test
	void anInterruptedThreadReleasesAllTheSameAndStaysInterrupted() {
		LockHandle handle = this.world.acquire("a");
		this.repository.next(Kind.RELEASE, Fault.after(() -> {
			if (Thread.currentThread().isInterrupted()) {
				throw new RepositoryInterruptedException(new InterruptedException());
			}
		}));
		Thread.currentThread().interrupt();
		assertThat(handle.release()).isTrue();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(releases()).isEqualTo(1);
	}

	@Test
	void anInterruptDuringAnAttemptIsFollowedByAnotherAttempt() {
		LockHandle handle = this.world.acquire("a");
		this.repository.next(Kind.RELEASE, Fault.lost(() -> {
			Thread.currentThread().interrupt();
			return new RepositoryInterruptedException(new InterruptedException());
		}));
		assertThat(handle.release()).isTrue();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.repository.isHeld("a")).isFalse();
	}

	@Test
	void anInterruptDuringThePauseIsKeptForTheCaller() throws Exception {
		LockHandle handle = this.world.acquire("a");
		CountDownLatch failed = new CountDownLatch(2);
		CompletableFuture<Void> interrupted = new CompletableFuture<>();
		this.repository.next(Kind.RELEASE, Fault.lost(() -> {
			failed.countDown();
			return new DataAccessResourceFailureException("no server");
		}), Fault.lost(() -> {
			failed.countDown();
			return new DataAccessResourceFailureException("no server");
		}), Fault.after(interrupted::join));
		Worker<Boolean> worker = Worker.start(handle::release);
		failed.await();
		worker.interrupt();
		// On a machine that stalls, the pause may be over before the interrupt
		interrupted.complete(null);
		assertThat(worker.result()).isTrue();
		assertThat(worker.isInterruptedAfterwards()).isTrue();
		assertThat(releases()).isEqualTo(3);
	}

	@Test
	void anUninterruptedThreadIsNotInterruptedAfterwards() {
		this.world.acquire("a").release();
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	@Test
	void theRestOfTheMinimumHoldIsCountedByTheMonotonicClock() {
		LockHandle handle = this.world.acquire("a", LockOptions.defaults().minHold(Duration.ofSeconds(20)));
		this.world.clock().advanceNano(Duration.ofSeconds(5));
		this.world.clock().advanceWall(Duration.ofSeconds(5).plusMillis(100));
		handle.release();
		assertThat(this.repository.peek("a").remaining()).isEqualTo(Duration.ofSeconds(15));
		assertThat(this.repository.isHeld("a")).isFalse();
	}

	@Test
	void aRepeatedReleaseKeepsTheNameNoLongerThanTheMinimumHold() {
		LockHandle handle = this.world.acquire("a", LockOptions.defaults().minHold(Duration.ofSeconds(20)));
		this.repository.next(Kind.RELEASE, (request, store) -> {
			this.world.clock().advance(Duration.ofSeconds(7));
			throw new QueryTimeoutException("time limit");
		});
		handle.release();
		assertThat(this.repository.peek("a").remaining()).isEqualTo(Duration.ofSeconds(13));
	}

	@Test
	void theMinimumHoldIsCountedFromTheGrantAndNotFromTheRequest() {
		this.repository.next(Kind.ACQUIRE, Fault.before(() -> this.world.clock().advance(Duration.ofSeconds(3))));
		this.world.acquire("a", LockOptions.defaults().minHold(Duration.ofSeconds(20))).release();
		assertThat(this.repository.peek("a").remaining()).isEqualTo(Duration.ofSeconds(20));
	}

	@Test
	void afterTheMinimumHoldTheNameIsFreeAtOnce() {
		LockHandle handle = this.world.acquire("a", LockOptions.defaults().minHold(Duration.ofSeconds(20)));
		this.world.clock().advance(Duration.ofSeconds(20));
		handle.release();
		assertThat(this.repository.peek("a").remaining()).isZero();
	}

	@Test
	void aLostLockIsReleasedByItsIdAsWell() {
		LockHandle handle = this.world.acquireUnrenewed("a");
		this.world.clock().advance(LockWorld.LEASE);
		assertThat(this.repository.isHeld("a")).as("the allowance still runs").isTrue();
		assertThat(handle.release()).isFalse();
		LockWorld.eventually().until(() -> !this.repository.isHeld("a"));
		assertThat(this.repository.requests(Kind.RELEASE, "a").get(0).thread()).startsWith("dblock-release-");
	}

	@Test
	void aReleaseInTheBackgroundThatIsSwallowedHoldsUpNoOther() throws Exception {
		LockHandle swallowed = this.world.acquireUnrenewed("a");
		LockHandle other = this.world.acquireUnrenewed("b");
		Gate gate = new Gate();
		this.repository.next(Kind.RELEASE, Fault.heldUp(gate));
		this.world.clock().advance(LockWorld.LEASE);
		assertThat(swallowed.release()).isFalse();
		gate.awaitReached();
		assertThat(other.release()).isFalse();
		LockWorld.eventually().until(() -> !this.repository.isHeld("b"));
		assertThat(this.repository.isHeld("a")).isTrue();
		gate.open();
		LockWorld.eventually().until(() -> !this.repository.isHeld("a"));
	}

	@Test
	void releasesInTheBackgroundTakeAFewThreadsAndAreAllSentInTheEnd() throws Exception {
		List<String> names = IntStream.range(0, 20).mapToObj((i) -> "a" + i).toList();
		List<LockHandle> handles = names.stream().map(this.world::acquireUnrenewed).toList();
		Gate gate = new Gate();
		this.repository.always(Kind.RELEASE, Fault.heldUp(gate));
		this.world.clock().advance(LockWorld.LEASE);
		handles.forEach(LockHandle::release);
		gate.awaitReached();
		gate.open();
		LockWorld.eventually().until(() -> names.stream().noneMatch(this.repository::isHeld));
		assertThat(names.stream()
			.flatMap((name) -> this.repository.requests(Kind.RELEASE, name).stream())
			.map(Request::thread)
			.distinct()).hasSizeLessThanOrEqualTo(4).allMatch((thread) -> thread.startsWith("dblock-release-"));
	}

	@Test
	void releasesThatWaitForAThreadAreLimitedAndTheRestIsLoggedOnce(CapturedOutput output) {
		List<Runnable> queue = new ArrayList<>();
		LeaseReleaser releaser = new LeaseReleaser(this.repository, new LockObservations(LockObserver.NONE),
				this.world.clock(), LockWorld.TIMEOUT, new ManualScheduler(), queue::add);
		for (int round = 1; round <= 2; round++) {
			for (int i = 0; i < LeaseReleaser.MOST_WAITING + 100; i++) {
				releaser.releaseDoubtful(new LeaseKey("a", "id-" + i),
						LeaseDeadline.from(this.world.clock(), LockWorld.LEASE), LockWorld.TIMEOUT, null);
			}
			assertThat(queue).hasSize(LeaseReleaser.MOST_WAITING);
			assertThat(output.getOut().split("no more are queued", -1)).as("logged in round " + round)
				.hasSize(round + 1);
			queue.forEach(Runnable::run);
			queue.clear();
		}
		assertThat(releases()).isEqualTo(2 * LeaseReleaser.MOST_WAITING);
	}

	@Test
	void aReleaseInTheBackgroundThatFailsIsLeftToTheLease() {
		LockHandle handle = this.world.acquireUnrenewed("a");
		this.repository.always(Kind.RELEASE, Fault.lost(() -> new IllegalStateException("closed")));
		this.world.clock().advance(LockWorld.LEASE);
		assertThat(handle.release()).isFalse();
		LockWorld.eventually().until(() -> releases() == 1);
		this.repository.heal();
		this.world.clock().advance(Duration.ofSeconds(1));
		this.world.acquire("a").close();
	}

	@Test
	void aReleaseIsRepeatedForAsLongAsAnExtensionInDoubtMayLast() {
		LockHandle handle = this.world.acquireUnrenewed("a");
		extendInDoubt(handle, LockWorld.LEASE.multipliedBy(4));
		this.world.clock().advance(LockWorld.LEASE.minusMillis(1));
		this.repository.next(Kind.RELEASE, (request, store) -> {
			this.world.clock().advance(request.timeout());
			throw new QueryTimeoutException("time limit");
		});
		assertThat(handle.release()).isTrue();
		assertThat(this.repository.isHeld("a")).isFalse();
		assertThat(this.repository.requests(Kind.RELEASE, "a")).extracting(Request::timeout)
			.containsExactly(LockWorld.TIMEOUT.dividedBy(2), LockWorld.TIMEOUT.dividedBy(4));
	}

	@Test
	void aLostLockWhoseExtensionIsInDoubtIsReleasedOnceMoreInTheBackground() {
		LockHandle handle = hurriedProcess().acquire("a", LockOptions.defaults().autoRenew(false));
		extendInDoubt(handle, LockWorld.LEASE.multipliedBy(4));
		this.world.clock().advance(LockWorld.LEASE);
		this.repository.next(Kind.RELEASE, Fault.NO_SERVER);
		assertThat(handle.release()).isFalse();
		LockWorld.eventually().until(() -> !this.repository.isHeld("a"));
		assertThat(releases()).isEqualTo(2);
	}

	@Test
	void aLockThatIsLostWhileItsExtensionIsUnderWayIsReleasedOnceMoreInTheBackground() throws Exception {
		Gate gate = new Gate();
		LockHandle handle = hurriedProcess().acquire("a", LockOptions.defaults().autoRenew(false));
		this.repository.next(Kind.EXTEND, (request, store) -> {
			Object lost = store.get();
			gate.pass();
			throw new QueryTimeoutException("time limit");
		});
		Worker<Boolean> extension = Worker.start(() -> {
			handle.extend(LockWorld.LEASE.multipliedBy(4));
			return true;
		});
		gate.awaitReached();
		this.world.clock().advance(LockWorld.LEASE);
		this.repository.next(Kind.RELEASE, Fault.NO_SERVER);
		assertThat(handle.release()).isFalse();
		LockWorld.eventually().until(() -> !this.repository.isHeld("a"));
		assertThat(releases()).isEqualTo(2);
		gate.open();
		assertThat(extension.failure()).isInstanceOf(QueryTimeoutException.class);
	}

	@Test
	void aReleaseThatFailsThreeTimesIsRepeatedOnceMoreIfAnExtensionIsInDoubt() {
		LockHandle handle = hurriedProcess().acquire("a", LockOptions.defaults().autoRenew(false));
		extendInDoubt(handle, LockWorld.LEASE.multipliedBy(4));
		this.repository.next(Kind.RELEASE, Fault.NO_SERVER, Fault.NO_SERVER, Fault.NO_SERVER);
		assertThatThrownBy(handle::release).isInstanceOf(DataAccessResourceFailureException.class);
		LockWorld.eventually().until(() -> !this.repository.isHeld("a"));
		assertThat(releases()).isEqualTo(4);
	}

	@Test
	void anExtensionInDoubtThatHasExpiredIsNotReleasedAgain() {
		LockTemplate locks = hurriedProcess();
		LockHandle handle = locks.acquire("a", LockOptions.defaults().autoRenew(false));
		Duration extension = LockWorld.LEASE.multipliedBy(4);
		extendInDoubt(handle, extension);
		this.world.clock().advance(LockWorld.LEASE);
		this.repository.next(Kind.RELEASE, (request, store) -> {
			this.world.clock().advance(extension);
			throw new QueryTimeoutException("time limit");
		});
		assertThat(handle.release()).isFalse();
		LockWorld.eventually().until(() -> releases() == 1);
		// Another doubt of the same length begins later, and so ends later.
		this.repository.next(Kind.ACQUIRE, Fault.lost(Fault.timeout()));
		assertThatThrownBy(() -> locks.acquire("later")).isInstanceOf(QueryTimeoutException.class);
		LockWorld.eventually().until(() -> this.repository.count(Kind.RELEASE, "later") >= 2);
		assertThat(releases()).isEqualTo(1);
	}

	@Test
	void anExtensionThatWasAnsweredLeavesNoDoubt() {
		LockHandle handle = hurriedProcess().acquire("a", LockOptions.defaults().autoRenew(false));
		Duration extension = LockWorld.LEASE.multipliedBy(4);
		extendInDoubt(handle, extension);
		handle.extend(extension);
		this.world.clock().advance(extension);
		this.repository.next(Kind.RELEASE, Fault.NO_SERVER);
		assertThat(handle.release()).isFalse();
		LockWorld.eventually().until(() -> releases() == 1);
	}

	@Test
	void theEndOfARunIsRecordedOnceTheServerIsBack() {
		LockHandle handle = this.world.acquire("a", RUN);
		handle.runFailed(new IllegalStateException("no paper"));
		this.repository.always(Kind.RELEASE, Fault.NO_SERVER);
		assertThatThrownBy(handle::release).isInstanceOf(DataAccessResourceFailureException.class);
		LockWorld.eventually().until(() -> releases() >= 5);
		assertThat(this.repository.isHeld("a")).isTrue();
		this.repository.heal();
		LockWorld.eventually().until(() -> !this.repository.isHeld("a"));
		assertThat(JobRecords.of(this.repository).find("a", "a").orElseThrow().runs()).singleElement()
			.satisfies((run) -> {
				assertThat(run.outcome()).isEqualTo(JobRun.Outcome.FAILED);
				assertThat(run.error()).isEqualTo("java.lang.IllegalStateException: no paper");
			});
		assertThat(this.repository.requests(Kind.RELEASE, "a")).last()
			.satisfies((request) -> assertThat(request.thread()).startsWith("dblock-release-"));
	}

	@Test
	void theReleaseOfARunIsRepeatedUntilItsLeaseHasEndedAtTheStoreWhateverWasRenewed() {
		Duration length = LockWorld.LEASE;
		WatchedLeases leases = new WatchedLeases();
		ManualScheduler timer = new ManualScheduler();
		LeaseReleaser releaser = newReleaser(leases, timer);
		Lease lease = leases.grant("a", RUN);
		leases.repository().always(Kind.RELEASE, Fault.NO_SERVER);
		assertThatThrownBy(() -> releaser.release(lease)).isInstanceOf(DataAccessResourceFailureException.class);
		Duration passed = Duration.ZERO;
		for (int repeats = 1; !timer.pending().isEmpty(); repeats++) {
			Duration pause = timer.pending().get(0).delay();
			assertThat(pause).isEqualTo(Durations.shorter(Duration.ofSeconds(1), length.dividedBy(10)));
			leases.clock().advance(pause);
			passed = passed.plus(pause);
			timer.runNext();
			assertThat(leases.repository().count(Kind.RELEASE, "a")).isEqualTo(3 + repeats);
		}
		assertThat(passed).isBetween(length.plus(LockWorld.TIMEOUT), length.plus(LockWorld.TIMEOUT).plusSeconds(1));
	}

	@Test
	void theEndOfARunIsRecordedThoughItsLeaseEndsWhileItIsReleased() {
		WatchedLeases leases = new WatchedLeases();
		ManualScheduler timer = new ManualScheduler();
		Lease lease = leases.grant("a", RUN);
		leases.repository().next(Kind.RELEASE, Fault.lost(() -> {
			leases.clock().advance(LockWorld.LEASE);
			return new DataAccessResourceFailureException("no server");
		}));
		assertThatThrownBy(() -> newReleaser(leases, timer).release(lease))
			.isInstanceOf(DataAccessResourceFailureException.class);
		assertThat(timer.pending()).hasSize(1);
		timer.runNext();
		assertThat(leases.repository().count(Kind.RELEASE, "a")).isEqualTo(2);
		assertThat(timer.pending()).isEmpty();
	}

	@Test
	void theReleaseOfARunWhoseLeaseWasExtendedIsRepeatedUntilThatHasEnded() {
		Duration extension = LockWorld.LEASE.multipliedBy(20);
		WatchedLeases leases = new WatchedLeases();
		ManualScheduler timer = new ManualScheduler();
		Lease lease = leases.grant("a", RUN);
		lease.trusted().prove(LeaseDeadline.from(leases.clock(), extension));
		leases.repository().always(Kind.RELEASE, Fault.NO_SERVER);
		assertThatThrownBy(() -> newReleaser(leases, timer).release(lease))
			.isInstanceOf(DataAccessResourceFailureException.class);
		leases.clock().advance(extension);
		timer.runNext();
		assertThat(timer.pending()).hasSize(1);
		leases.clock().advance(LockWorld.TIMEOUT);
		timer.runNext();
		assertThat(timer.pending()).isEmpty();
	}

	@Test
	void theReleaseOfARunIsNotRepeatedOnceItWasAnswered() {
		for (boolean takenOver : List.of(false, true)) {
			WatchedLeases leases = new WatchedLeases();
			ManualScheduler timer = new ManualScheduler();
			Lease lease = leases.grant("a", RUN);
			leases.repository().next(Kind.RELEASE, Fault.NO_SERVER, Fault.NO_SERVER, Fault.NO_SERVER);
			assertThatThrownBy(() -> newReleaser(leases, timer).release(lease))
				.isInstanceOf(DataAccessResourceFailureException.class);
			if (takenOver) {
				leases.repository().forceReleaseNow("a");
				leases.repository()
					.acquire(new AcquireRequest(new LeaseKey("a", "another"), LockWorld.LEASE, "host-2", "t", "w",
							LockWorld.TIMEOUT));
			}
			timer.runNext();
			assertThat(timer.pending()).isEmpty();
			assertThat(leases.repository().isHeld("a")).isEqualTo(takenOver);
		}
	}

	@Test
	void theReleaseOfAPlainLockIsNotRepeated() {
		WatchedLeases leases = new WatchedLeases();
		ManualScheduler timer = new ManualScheduler();
		Lease lease = leases.grant("a", LockOptions.defaults());
		leases.repository().always(Kind.RELEASE, Fault.NO_SERVER);
		assertThatThrownBy(() -> newReleaser(leases, timer).release(lease))
			.isInstanceOf(DataAccessResourceFailureException.class);
		assertThat(timer.pending()).isEmpty();
	}

	private static LeaseReleaser newReleaser(WatchedLeases leases, ManualScheduler timer) {
		return new LeaseReleaser(leases.repository(), new LockObservations(LockObserver.NONE), leases.clock(),
				LockWorld.TIMEOUT, timer, Runnable::run);
	}

	private LockTemplate hurriedProcess() {
		return new DefaultLockTemplate(this.world.newEngine(Duration.ofMillis(100), LockWorld.POLL));
	}

	private void extendInDoubt(LockHandle handle, Duration extension) {
		this.repository.next(Kind.EXTEND, Fault.answerLost(Fault.timeout()));
		assertThatThrownBy(() -> handle.extend(extension)).isInstanceOf(QueryTimeoutException.class);
		assertThat(handle.remaining()).isLessThanOrEqualTo(LockWorld.LEASE);
	}

	@Test
	void aDoubtThatOutlivesTheEngineIsLeftToTheLease() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, (request, store) -> {
			gate.pass();
			throw new QueryTimeoutException("time limit");
		});
		Worker<LockHandle> worker = Worker.start(() -> this.world.acquire("a"));
		gate.awaitReached();
		Worker<Boolean> closing = this.world.startClosing("a");
		closing.interrupt();
		assertThat(closing.result()).as("closed without the patience for requests under way").isTrue();
		gate.open();
		assertThat(worker.failure()).isInstanceOf(QueryTimeoutException.class);
		assertThat(releases()).isZero();
	}

}
