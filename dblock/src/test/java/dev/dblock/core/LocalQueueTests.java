package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;

import dev.dblock.LossReason;
import dev.dblock.core.lease.Lease;
import dev.dblock.core.lease.Lease.Grant;
import dev.dblock.core.lease.LeaseDeadline;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.LocalQueues;
import dev.dblock.core.queue.Outcome;
import dev.dblock.core.queue.PollPause;
import dev.dblock.core.queue.PollPause.WaitCause;
import dev.dblock.core.queue.Turn;
import dev.dblock.core.queue.Waiter;
import dev.dblock.settings.EngineSettings;
import dev.dblock.settings.LeaseTerms;
import dev.dblock.store.LeaseKey;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LocalQueueTests {

	private static final LeaseTerms TERMS = LocalQueueModelTests.terms();

	private static final Duration LONG = Duration.ofSeconds(1);

	private final ManualClock clock = new ManualClock();

	private final AtomicLong nanos = new AtomicLong(Long.MAX_VALUE);

	private final Waiter waiter = new Waiter(TERMS);

	private long pollNanos;

	private long pollsAfterNanos;

	@Test
	void letsOtherProcessesGoFirstAfterTheLockHasGoneRoundHereForLong() {
		LocalQueue queue = queue(LONG);
		assertThatIsYieldedFor(queue, Duration.ofMillis(40), Duration.ofMillis(80));
		pass(Duration.ofMillis(80));
		assertThat(queue.pauseBeforeAsking(this.waiter)).isNotPositive();
	}

	@Test
	void doesNotYieldAgainToAReleaseElsewhere() {
		LocalQueue queue = queue(LONG);
		releaseAfterLong(queue, Duration.ofMillis(30));
		assertThat(queue.isYielding()).isTrue();
		pass(Duration.ofMillis(60));
		assertThat(queue.isYielding()).isFalse();
		queue.signal();
		assertThat(queue.pauseBeforeAsking(this.waiter)).isNotPositive();
	}

	@Test
	void yieldsForAWholePollIntervalWhereOtherProcessesPoll() {
		this.pollNanos = LONG.toNanos();
		LocalQueue queue = queue(LONG);
		assertThatIsYieldedFor(queue, Duration.ofMillis(30), LONG.plusMillis(60));
		queue.signal();
		pass(LONG);
		assertThat(asking(queue, this.waiter)).isNull();
		pass(Duration.ofMillis(60));
		assertThat(asking(queue, this.waiter)).isNotNull();
	}

	@Test
	void yieldsToProcessesThatPollOnlyAfterATurnAsLongAsTheirInterval() {
		this.pollNanos = LONG.plusMillis(1).toNanos();
		assertThatIsYieldedFor(queue(LONG), Duration.ofMillis(30), Duration.ofMillis(60));
	}

	@Test
	void yieldsForAWholePollIntervalAfterAHoldForWhichNoOtherProcessListens() {
		this.pollNanos = LONG.toNanos();
		this.pollsAfterNanos = LONG.toNanos();
		assertThatIsYieldedFor(queue(LONG), Duration.ofMillis(30), LONG.plusMillis(60));
		this.pollsAfterNanos = LONG.plusMillis(31).toNanos();
		assertThatIsYieldedFor(queue(LONG), Duration.ofMillis(30), Duration.ofMillis(60));
	}

	@Test
	void beginsANewTurnOnlyAfterAnotherProcessCouldHaveHadTheLock() {
		this.pollNanos = LONG.toNanos();
		LocalQueue queue = queue(Duration.ofMillis(100));
		releaseAfterLong(queue, Duration.ofMillis(30));
		Waiter next = new Waiter(TERMS);
		assertThat(queue.turn(this.waiter, 0, 0, "me")).isEqualTo(new Turn.GiveUp(new Outcome.OthersFirst()));
		queue.quit(this.waiter);
		queue.join(next);
		pass(LONG.plusMillis(60));
		assertThat(asking(queue, next)).isNotNull();
		queue.join(this.waiter);
		assertThat(yieldAfterGrant(queue, next, LONG.minusMillis(1), this.waiter)).as("within its turn").isZero();
		pass(Duration.ofMillis(1));
		assertThat(asking(queue, this.waiter)).isNotNull();
		queue.refused(this.waiter, new PollPause.Plan(new Outcome.OthersFirst(), 1, WaitCause.POLL, this.nanos.get()));
		queue.join(next);
		assertThat(asking(queue, this.waiter)).isNotNull();
		assertThat(yieldAfterGrant(queue, this.waiter, LONG.minusMillis(1), next)).as("after others").isZero();
	}

	@Test
	void theHeadAsksOnceMoreAlthoughItWakesUpLongAfterItsTime() {
		LocalQueue queue = queue(LONG);
		queue.join(this.waiter);
		assertThat(asking(queue, this.waiter)).isEqualTo(WaitCause.FIRST);
		PollPause.Plan later = new PollPause.Plan(new Outcome.OthersFirst(), 1, WaitCause.POLL,
				this.nanos.get() + LONG.toNanos());
		queue.refused(this.waiter, later);
		assertThat(queue.turn(this.waiter, -LONG.toNanos(), 1, "me")).isInstanceOf(Turn.Ask.class);
		queue.refused(this.waiter, later);
		assertThat(queue.turn(this.waiter, -LONG.toNanos(), 1, "me"))
			.isEqualTo(new Turn.GiveUp(new Outcome.OthersFirst()));
	}

	/**
	 * Return why a waiter asks now, or {@code null} if it does not.
	 */
	private static WaitCause asking(LocalQueue queue, Waiter waiter) {
		return (queue.turn(waiter, Long.MAX_VALUE, 0, "me") instanceof Turn.Ask ask) ? ask.cause() : null;
	}

	/**
	 * Hold the lock for a while and release it in no time.
	 */
	private Duration yieldAfterGrant(LocalQueue queue, Waiter granted, Duration held, Waiter next) {
		Lease lease = lease();
		queue.granted(lease, granted);
		pass(held);
		queue.releasing();
		queue.ended(lease);
		queue.released(0);
		return Duration.ofNanos(queue.pauseBeforeAsking(next));
	}

	/**
	 * Many threads that always wait for the lock, and a process that polls for it:
	 * whenever it polls, one of the first few polls finds the lock free.
	 */
	@Test
	void isFoundFreeByEveryProcessThatPolls() {
		this.pollNanos = LONG.toNanos();
		LocalQueue queue = queue(Duration.ofMillis(100));
		List<long[]> free = new ArrayList<>();
		long start = this.nanos.get();
		Deque<Waiter> crowd = new ArrayDeque<>();
		for (int i = 0; i < 4; i++) {
			crowd.add(new Waiter(TERMS));
			queue.join(crowd.getLast());
		}
		while (this.nanos.get() - start < Duration.ofSeconds(20).toNanos()) {
			Waiter holder = crowd.remove();
			pass(Duration.ofNanos(Math.max(0, queue.pauseBeforeAsking(holder))));
			assertThat(asking(queue, holder)).isNotNull();
			Lease lease = lease();
			queue.granted(lease, holder);
			if (!free.isEmpty()) {
				free.get(free.size() - 1)[1] = this.nanos.get() - start;
			}
			for (Waiter next = holder; next != null; next = handOver(queue, lease)) {
				lease = (next == holder) ? lease : next.handed().lease();
				crowd.remove(next);
				pass(Duration.ofMillis(5));
				crowd.add(new Waiter(TERMS));
				queue.join(crowd.getLast());
			}
			queue.releasing();
			queue.ended(lease);
			pass(Duration.ofMillis(2));
			free.add(new long[] { this.nanos.get() - start, Long.MAX_VALUE });
			queue.released(Duration.ofMillis(2).toNanos());
		}
		for (int first = 0; first < 15_000; first += 7) {
			int begin = first;
			assertThat(IntStream.range(0, 3).mapToLong((look) -> begin + look * LONG.toMillis()).anyMatch((look) -> {
				long at = Duration.ofMillis(look).toNanos();
				return free.stream().anyMatch((gap) -> gap[0] <= at && at < gap[1]);
			})).as("the first looks from %d ms on", first).isTrue();
		}
	}

	@Test
	void isNotKeptFromAskingByReleasesReportedMeanwhile() {
		LocalQueue queue = queue(LONG);
		releaseAfterLong(queue, Duration.ofSeconds(20));
		long first = queue.pauseBeforeAsking(this.waiter);
		queue.signal();
		queue.signal();
		assertThat(queue.pauseBeforeAsking(this.waiter)).isPositive().isEqualTo(first);
	}

	@Test
	void letsNoOtherGoFirstAnyMoreOnceItWasGrantedTheLockInTurn() {
		LocalQueue queue = queue(LONG);
		releaseAfterLong(queue, Duration.ofMillis(30));
		pass(Duration.ofMillis(60));
		Waiter next = new Waiter(TERMS);
		queue.join(next);
		assertThat(asking(queue, this.waiter)).isNotNull();
		Lease lease = lease();
		queue.granted(lease, this.waiter);
		assertThat(handOver(queue, lease)).isSameAs(next);
		Waiter last = new Waiter(TERMS);
		queue.join(last);
		queue.ended(next.handed().lease());
		assertThat(queue.pauseBeforeAsking(last)).isNotPositive();
	}

	@Test
	void letsOthersGoFirstAgainAfterAGrantOutsideTheQueue() {
		LocalQueue queue = queue(LONG);
		releaseAfterLong(queue, Duration.ofMillis(30));
		assertThatItStillLetsOthersGoFirst(queue, null);
	}

	private void assertThatItStillLetsOthersGoFirst(LocalQueue queue, Waiter granted) {
		Lease lease = lease();
		queue.granted(lease, granted);
		assertThat(handOver(queue, lease)).as("handed on").isNull();
		assertThat(queue.letsOthersGoFirst()).isTrue();
		pass(Duration.ofMillis(60));
		assertThat(queue.letsOthersGoFirst()).isFalse();
		queue.releasing();
		queue.ended(lease);
		queue.released(Duration.ofMillis(30).toNanos());
		assertThat(queue.letsOthersGoFirst()).isTrue();
	}

	@Test
	void isNotForThoseWithoutAPlaceBeforeItsHeadHasAskedAndWasAnswered() {
		LocalQueue queue = queue(LONG);
		releaseAfterLong(queue, Duration.ofMillis(30));
		pass(Duration.ofMillis(60));
		assertThat(queue.pauseBeforeAsking(this.waiter)).isNotPositive();
		assertThat(queue.letsOthersGoFirst()).as("before it asks").isTrue();
		assertThat(asking(queue, this.waiter)).isNotNull();
		assertThat(queue.letsOthersGoFirst()).as("while it asks").isTrue();
		Waiter next = new Waiter(TERMS);
		queue.join(next);
		queue.quit(this.waiter);
		assertThat(queue.letsOthersGoFirst()).as("before the next one asks").isTrue();
		assertThat(asking(queue, next)).isNotNull();
		queue.refused(next, new PollPause.Plan(new Outcome.OthersFirst(), 1, WaitCause.SLOW_POLL, this.nanos.get()));
		assertThat(queue.letsOthersGoFirst()).as("when it was answered").isFalse();
	}

	@Test
	void isForThoseWithoutAPlaceWhenItsHeadDoesNotAsk() {
		LocalQueue queue = queue(LONG);
		releaseAfterLong(queue, Duration.ofMillis(30));
		pass(Duration.ofMillis(60).plusNanos(LocalQueue.HEAD_START_NANOS - 1));
		assertThat(queue.letsOthersGoFirst()).isTrue();
		pass(Duration.ofNanos(1));
		assertThat(queue.letsOthersGoFirst()).as("in time").isFalse();
		assertThat(asking(queue, this.waiter)).isNotNull();
		assertThat(queue.letsOthersGoFirst()).as("answered in time").isFalse();
	}

	@Test
	void isForItsHeadAfterEachReleaseWhereNothingIsHandedOver() {
		LocalQueue queue = queue(Duration.ZERO);
		releaseAfterLong(queue, Duration.ofMillis(30));
		assertThat(queue.pauseBeforeAsking(this.waiter)).isNotPositive();
		assertThat(queue.letsOthersGoFirst()).isTrue();
		queue.quit(this.waiter);
		assertThat(queue.letsOthersGoFirst()).isFalse();
		queue.join(this.waiter);
		assertThat(queue.letsOthersGoFirst()).as("before one that came later").isFalse();
	}

	@Test
	void letsOthersGoFirstOnlyWhereThereAreWaiters() {
		LocalQueue queue = queue(LONG);
		releaseAfterLong(queue, Duration.ofMillis(30));
		assertThat(queue.letsOthersGoFirst()).isTrue();
		queue.quit(this.waiter);
		assertThat(queue.letsOthersGoFirst()).isFalse();
	}

	@Test
	void treatsTheLockAsHeldUntilItIsReleased() {
		LocalQueue queue = queue(LONG);
		Lease lease = lease();
		queue.granted(lease, null);
		assertThat(queue.present(1)).containsExactly(lease);
		lease.state().endWith(LossReason.RELEASED);
		assertThat(queue.holders()).isEmpty();
		queue.releasing();
		assertThat(queue.present(1)).containsExactly(lease);
		queue.ended(lease);
		assertThat(queue.present(1)).containsExactly(lease);
		queue.releasing();
		queue.released(1);
		assertThat(queue.present(1)).as("one of two was released").containsExactly(lease);
		queue.released(1);
		assertThat(queue.present(1)).isEmpty();
	}

	@Test
	void doesNotTreatALockAsHeldWhoseReleaseTakesVeryLong() {
		LocalQueue queue = queue(LONG);
		Lease lease = lease();
		queue.granted(lease, null);
		queue.releasing();
		queue.ended(lease);
		pass(Duration.ofNanos(LocalQueue.LONGEST_RELEASE_NANOS));
		assertThat(queue.present(1)).isEmpty();
	}

	@Test
	void doesNotTreatALockAsHeldWhoseLeaseExpiredOrWasLost() {
		LocalQueue queue = queue(LONG);
		Lease lease = lease();
		queue.granted(lease, null);
		this.clock.advance(TERMS.lease());
		assertThat(queue.present(1)).isEmpty();
		queue.releasing();
		queue.ended(lease);
		assertThat(queue.present(1)).isEmpty();
		queue.released(1);
		Lease another = lease();
		queue.granted(another, null);
		assertThat(queue.present(1)).containsExactly(another);
		another.state().endWith(LossReason.TAKEN_OVER);
		assertThat(queue.present(1)).isEmpty();
		queue.ended(another);
		assertThat(queue.present(1)).isEmpty();
	}

	@Test
	void letsNoOtherGoFirstAfterAShortWhile() {
		LocalQueue queue = queue(Duration.ofHours(1));
		assertThatIsYieldedFor(queue, Duration.ofMillis(40), Duration.ZERO);
	}

	@Test
	void doesNotMakeWaitersPayForAReleaseThatTookVeryLong() {
		LocalQueue queue = queue(LONG);
		assertThatIsYieldedFor(queue, Duration.ofSeconds(20), Duration.ofMillis(100));
	}

	@Test
	void waitsForItsHolderNoLongerThanItsLease() {
		Lease lease = lease();
		LocalQueue queue = queue(Duration.ofHours(1));
		queue.granted(lease, null);
		queue.join(this.waiter);
		assertThat(queue.pauseBeforeAsking(this.waiter)).isBetween(1L, TERMS.lease().toNanos());
		this.clock.advance(TERMS.lease());
		assertThat(queue.pauseBeforeAsking(this.waiter)).isLessThanOrEqualTo(0);
		assertThat(queue.holders()).isEmpty();
	}

	@Test
	void knowsWhyAHeadAsksWithoutASignal() {
		LocalQueue queue = queue(Duration.ofHours(1));
		Lease lease = lease();
		queue.granted(lease, null);
		queue.join(this.waiter);
		assertThat(asking(queue, this.waiter)).isNull();
		this.clock.advance(TERMS.lease());
		assertThat(asking(queue, this.waiter)).isEqualTo(WaitCause.EXPIRY);
		queue.ended(lease);
		assertThat(asking(queue, this.waiter)).isEqualTo(WaitCause.SIGNAL);
		queue.releasing();
		assertThat(asking(queue, this.waiter)).isNull();
		pass(Duration.ofNanos(LocalQueue.LONGEST_RELEASE_NANOS));
		assertThat(asking(queue, this.waiter)).isEqualTo(WaitCause.FIRST);
	}

	@Test
	void waitsForAReleaseNoLongerThanItNeeds() {
		LocalQueue queue = queue(Duration.ofHours(1));
		Lease lease = lease();
		queue.granted(lease, null);
		queue.join(this.waiter);
		queue.releasing();
		queue.ended(lease);
		assertThat(queue.pauseBeforeAsking(this.waiter)).isEqualTo(LocalQueue.LONGEST_RELEASE_NANOS);
		assertThat(asking(queue, this.waiter)).isNull();
		pass(Duration.ofNanos(LocalQueue.LONGEST_RELEASE_NANOS));
		assertThat(queue.pauseBeforeAsking(this.waiter)).isNotPositive();
		assertThat(asking(queue, this.waiter)).isNotNull();
	}

	@Test
	void asksForTokensForTwiceTheHandOversOfTheLastGrantWhereWaitersCanHaveThem() {
		LocalQueue queue = queue(new EngineSettings.HandOff(5000, Duration.ofHours(1)));
		queue.join(this.waiter);
		assertThat(queue.tokens(this.waiter, TERMS)).isEqualTo(1024);
		Lease lease = lease(2000);
		queue.granted(lease, this.waiter);
		Waiter next = this.waiter;
		for (int i = 0; i < 1500; i++) {
			next = new Waiter(TERMS);
			queue.join(next);
			assertThat(handOver(queue, lease)).isSameAs(next);
			lease = next.handed().lease();
		}
		Waiter asking = new Waiter(TERMS);
		queue.join(asking);
		assertThat(queue.tokens(asking, TERMS)).as("without other waiters").isEqualTo(1024);
		queue.join(new Waiter(TERMS));
		assertThat(queue.tokens(asking, TERMS)).isEqualTo(3002);
		assertThat(queue.tokens(asking, LeaseTerms.of(LockWorld.DEFAULTS.withLease(Duration.ofSeconds(20)))))
			.as("on other terms")
			.isEqualTo(1024);
		queue.granted(lease, null);
		assertThat(queue.tokens(asking, TERMS)).as("after a grant that was not handed over").isEqualTo(1024);
	}

	private void assertThatIsYieldedFor(LocalQueue queue, Duration request, Duration expected) {
		releaseAfterLong(queue, request);
		assertThat(queue.pauseBeforeAsking(this.waiter)).isEqualTo(expected.toNanos());
	}

	/**
	 * Let the lock be held here for a second, and released.
	 */
	private void releaseAfterLong(LocalQueue queue, Duration request) {
		Lease lease = lease();
		queue.granted(lease, null);
		queue.join(this.waiter);
		pass(LONG);
		queue.releasing();
		queue.ended(lease);
		assertThat(queue.pauseBeforeAsking(this.waiter)).isPositive();
		queue.released(request.toNanos());
	}

	private void pass(Duration time) {
		this.nanos.addAndGet(time.toNanos());
	}

	private static Waiter handOver(LocalQueue queue, Lease lease) {
		return queue.handOver(lease, (successor) -> new LeaseHandle(successor, null));
	}

	private LocalQueue queue(Duration maxTime) {
		return queue(new EngineSettings.HandOff(1000, maxTime));
	}

	private LocalQueue queue(EngineSettings.HandOff settings) {
		return new LocalQueues(settings, LocalQueue.LONGEST_RELEASE_NANOS,
				(held) -> (held >= this.pollsAfterNanos) ? this.pollNanos : 0, this.nanos::get)
			.enter("name");
	}

	private Lease lease() {
		return lease(1000);
	}

	private Lease lease(int tokens) {
		Grant grant = new Grant(new LeaseKey("name", "id"), 1, tokens, Instant.EPOCH, "test", false, null);
		return new Lease(grant, TERMS, Thread.currentThread(), LeaseDeadline.from(this.clock, TERMS.lease()),
				this.clock);
	}

}
