package dev.dblock.core;

import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LocalQueueTests {

	private static final LeaseTerms TERMS = LocalQueueModelTests.terms();

	private final ManualClock clock = new ManualClock();

	private final Waiter waiter = new Waiter(TERMS);

	@Test
	void letsOtherProcessesGoFirstAfterTheLockHasGoneRoundHereForLong() {
		LocalQueue queue = queue(Duration.ofNanos(1));
		assertThatIsYieldedFor(queue, Duration.ofMillis(40), Duration.ofMillis(80));
		LockWorld.eventually().until(() -> queue.pauseBeforeAsking(this.waiter) <= 0);
	}

	@Test
	void letsThemGoFirstForLessTimeAfterEachOfTheNextReleases() {
		LocalQueue queue = queue(Duration.ofNanos(1));
		queue.join(this.waiter);
		queue.releasing();
		queue.released(Duration.ofMillis(30).toNanos());
		for (long expected : new long[] { 30, 20, 10, 0, 0 }) {
			LockWorld.eventually().until(() -> queue.pauseBeforeAsking(this.waiter) <= 0);
			assertIsYielded(queue, Duration.ofMillis(expected), queue::signal);
		}
	}

	@Test
	void isNotKeptFromAskingByWhatIsToldMeanwhile() {
		LocalQueue queue = queue(Duration.ofNanos(1));
		queue.join(this.waiter);
		queue.releasing();
		queue.released(Duration.ofSeconds(20).toNanos());
		long first = queue.pauseBeforeAsking(this.waiter);
		queue.signal();
		queue.signal();
		assertThat(queue.pauseBeforeAsking(this.waiter)).isPositive().isLessThanOrEqualTo(first);
	}

	@Test
	void letsNobodyGoFirstAnyMoreOnceItWasGrantedTheLock() {
		LocalQueue queue = queue(Duration.ofNanos(1));
		queue.join(this.waiter);
		queue.releasing();
		queue.released(Duration.ofSeconds(20).toNanos());
		Lease lease = lease();
		queue.granted(lease, null);
		queue.ended(lease);
		assertThat(queue.pauseBeforeAsking(this.waiter)).isNotPositive();
	}

	@Test
	void letsNobodyGoFirstAfterAShortWhile() {
		LocalQueue queue = queue(Duration.ofHours(1));
		assertThatIsYieldedFor(queue, Duration.ofMillis(40), Duration.ZERO);
	}

	@Test
	void doesNotMakeWaitersPayForAReleaseThatTookVeryLong() {
		LocalQueue queue = queue(Duration.ofNanos(1));
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
		assertThat(queue.holder()).isNull();
	}

	@Test
	void waitsForAReleaseNoLongerThanItNeeds() {
		LocalQueue queue = new LocalQueues(new HandOffSettings(1000, Duration.ofHours(1)),
				Duration.ofMillis(20).toNanos())
			.enter("name");
		Lease lease = lease();
		queue.granted(lease, null);
		queue.join(this.waiter);
		queue.releasing();
		queue.ended(lease);
		assertThat(queue.pauseBeforeAsking(this.waiter)).isLessThanOrEqualTo(Duration.ofMillis(20).toNanos());
		LockWorld.eventually().until(() -> queue.pauseBeforeAsking(this.waiter) <= 0);
		assertThat(queue.beginAsking(this.waiter)).isNotNull();
	}

	private void assertThatIsYieldedFor(LocalQueue queue, Duration request, Duration expected) {
		Lease lease = lease();
		queue.granted(lease, null);
		queue.join(this.waiter);
		queue.releasing();
		queue.ended(lease);
		assertThat(queue.pauseBeforeAsking(this.waiter)).isPositive();
		assertIsYielded(queue, expected, () -> queue.released(request.toNanos()));
	}

	private void assertIsYielded(LocalQueue queue, Duration expected, Runnable news) {
		long start = System.nanoTime();
		news.run();
		long pause = queue.pauseBeforeAsking(this.waiter);
		assertThat(pause).isBetween(expected.toNanos() - (System.nanoTime() - start), expected.toNanos());
	}

	private static LocalQueue queue(Duration maxTime) {
		return new LocalQueues(new HandOffSettings(1000, maxTime)).enter("name");
	}

	private Lease lease() {
		Grant grant = new Grant(new LeaseKey("name", "id"), 1, 1000, Instant.EPOCH, "test");
		return new Lease(grant, TERMS, Thread.currentThread(), LeaseDeadline.from(this.clock, TERMS.lease()),
				this.clock);
	}

}
