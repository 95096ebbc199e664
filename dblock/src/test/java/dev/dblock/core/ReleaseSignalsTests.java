package dev.dblock.core;

import java.time.Duration;
import java.util.function.Consumer;
import java.util.stream.Stream;

import dev.dblock.LockOptions;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.queue.PollPause.WaitCause;
import dev.dblock.engine.LockEngine;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.ReleaseFeed;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the signals to waiters. Polls are an hour apart: a waiter that asks again was
 * woken.
 */
@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class ReleaseSignalsTests {

	private static final EngineSettings.Poll HARDLY_EVER = new EngineSettings.Poll(Duration.ofHours(1),
			Duration.ofHours(1));

	private static final Duration QUIET = FeedUse.Patience.USUAL.quiet();

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final ScriptedFeed feed = new ScriptedFeed();

	private DefaultLockEngine engine;

	private LeaseKey other;

	@BeforeEach
	void begin() {
		this.repository.notifyBy(this.feed);
		this.engine = this.world.newEngine(LockWorld.settings(LockWorld.DEFAULTS, LockWorld.TIMEOUT, HARDLY_EVER));
		this.other = this.world.seize("a", Duration.ofDays(1));
	}

	@AfterEach
	void close() {
		this.world.close();
	}

	private Worker<LockEngine.Attempt> waitFor() {
		return Worker.start(() -> this.engine.acquire("a", LockOptions.defaults().waitUpTo(Duration.ofDays(1))));
	}

	/**
	 * Let a thread wait until the release is reported.
	 */
	private Worker<LockEngine.Attempt> waitForReport() throws Exception {
		Worker<LockEngine.Attempt> waiter = waitFor();
		this.feed.send(ReleaseFeed.Listener::listening);
		awaitAttempts(3);
		waiter.awaitWaiting();
		return waiter;
	}

	private void awaitAttempts(int attempts) {
		LockWorld.eventually()
			.untilAsserted(() -> assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(attempts));
	}

	@Test
	void theFeedIsNotOpenedBeforeThereIsAWaiter() {
		this.engine.acquire("a", LockOptions.defaults());
		this.engine.acquire("b", LockOptions.defaults());
		assertThat(this.feed.openings()).isZero();
	}

	@Test
	void aReleaseWakesTheWaiter() throws Exception {
		Worker<LockEngine.Attempt> waiter = waitForReport();
		this.repository.release(this.other, Duration.ZERO, LockWorld.TIMEOUT);
		this.feed.send((listener) -> listener.released("a"));
		assertThat(waiter.result()).isInstanceOf(LockEngine.Granted.class);
		assertThat(this.engine.state().attempts(WaitCause.SIGNAL)).isEqualTo(2);
		assertThat(this.feed.openings()).isEqualTo(1);
	}

	@Test
	void theReleaseOfAnotherLockWakesNoWaiter() throws Exception {
		Worker<LockEngine.Attempt> waiter = waitForReport();
		this.feed.send((listener) -> listener.released("b"));
		this.repository.release(this.other, Duration.ZERO, LockWorld.TIMEOUT);
		waiter.awaitWaiting();
		assertThat(waiter.isDone()).isFalse();
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(3);
		this.feed.send((listener) -> listener.released("a"));
		assertThat(waiter.result()).isInstanceOf(LockEngine.Granted.class);
	}

	@Test
	void aReleaseBeforeTheFeedListensIsSeenWhenItDoes() throws Exception {
		Worker<LockEngine.Attempt> waiter = waitFor();
		awaitAttempts(2);
		waiter.awaitWaiting();
		this.repository.release(this.other, Duration.ZERO, LockWorld.TIMEOUT);
		this.feed.send(ReleaseFeed.Listener::listening);
		assertThat(waiter.result()).isInstanceOf(LockEngine.Granted.class);
	}

	@Test
	void aReleaseWhileTheWaiterAsksIsNotMissed() throws Exception {
		Worker<LockEngine.Attempt> waiter = waitForReport();
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.answerHeldUp(gate));
		this.feed.send((listener) -> listener.released("a"));
		gate.awaitReached();
		this.repository.release(this.other, Duration.ZERO, LockWorld.TIMEOUT);
		this.feed.send((listener) -> listener.released("a"));
		gate.open();
		assertThat(waiter.result()).isInstanceOf(LockEngine.Granted.class);
	}

	static Stream<Consumer<ReleaseFeed.Listener>> endsOfTheFeed() {
		return Stream.of((listener) -> listener.interrupted("the primary is gone"),
				(listener) -> listener.unsupported("the right was taken away"));
	}

	@ParameterizedTest
	@MethodSource("endsOfTheFeed")
	void whenTheFeedEndsTheWaitersPollAtOnce(Consumer<ReleaseFeed.Listener> end) throws Exception {
		Worker<LockEngine.Attempt> waiter = waitForReport();
		this.repository.release(this.other, Duration.ZERO, LockWorld.TIMEOUT);
		this.feed.send(end);
		assertThat(waiter.result()).isInstanceOf(LockEngine.Granted.class);
	}

	@Test
	void aFeedThatListensAgainMakesTheWaitersTry() throws Exception {
		Worker<LockEngine.Attempt> waiter = waitFor();
		this.feed.send(ReleaseFeed.Listener::listening);
		this.feed.send((listener) -> listener.interrupted("the primary is gone"));
		this.feed.send((listener) -> listener.interrupted("and still is"));
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "a") >= 3);
		waiter.awaitWaiting();
		this.repository.release(this.other, Duration.ZERO, LockWorld.TIMEOUT);
		this.feed.send(ReleaseFeed.Listener::listening);
		assertThat(waiter.result()).isInstanceOf(LockEngine.Granted.class);
	}

	private void waitUntilRefused(String name) throws Exception {
		this.world.seize(name, Duration.ofDays(1));
		Duration wait = Duration.ofMillis(2);
		Worker<LockEngine.Attempt> waiter = Worker
			.start(() -> this.engine.acquire(name, LockOptions.defaults().waitUpTo(wait)));
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, name) == 2);
		waiter.awaitWaiting();
		this.world.clock().advance(wait);
		assertThat(waiter.result()).isInstanceOf(LockEngine.Refused.class);
	}

	@Test
	void anUnsupportedFeedIsLoggedOnceNotOpenedForEachWaiterAndTriedAgainLater(CapturedOutput output) throws Exception {
		waitUntilRefused("b");
		this.feed.send((listener) -> listener.unsupported("no change streams"));
		waitUntilRefused("c");
		assertThat(this.feed.openings()).isEqualTo(1);
		this.world.clock().advance(Duration.ofMinutes(6));
		waitUntilRefused("d");
		assertThat(this.feed.openings()).isEqualTo(2);
		this.feed.send((listener) -> listener.unsupported("still no change streams"));
		assertThat(output.getAll()).containsOnlyOnce("Waiters poll for their locks");
	}

	@Test
	void itPollsWhereReleasesWereToBeReportedAndAreNot() throws Exception {
		ReleaseSignals signals = this.engine.parts().signals();
		assertThat(signals.isPolling()).as("before anything was waited for").isFalse();
		waitUntilRefused("b");
		assertThat(signals.isPolling()).as("before the feed listens").isTrue();
		this.feed.send(ReleaseFeed.Listener::listening);
		assertThat(signals.isPolling()).as("while it listens").isFalse();
		this.feed.send((listener) -> listener.interrupted("the primary is gone"));
		assertThat(signals.isPolling()).as("while it is interrupted").isTrue();
		this.feed.send((listener) -> listener.unsupported("no change streams"));
		assertThat(signals.isPolling()).as("without a feed").isTrue();
	}

	@Test
	void aFeedIsClosedThoughAThreadWaitsIfItsLockIsNotReleased() throws Exception {
		Worker<LockEngine.Attempt> waiter = waitForReport();
		quiet(QUIET.minusSeconds(1));
		this.feed.send((listener) -> listener.released("b"));
		assertThat(this.feed.isOpen()).isTrue();
		this.repository.release(this.other, Duration.ZERO, LockWorld.TIMEOUT);
		quiet(Duration.ofSeconds(1));
		assertThat(waiter.result()).as("asks as soon as it polls").isInstanceOf(LockEngine.Granted.class);
		assertThat(this.feed.isOpen()).isFalse();
	}

	@Test
	void aFeedStaysOpenWhileLocksThatThreadsWaitForAreReleased() throws Exception {
		Worker<LockEngine.Attempt> waiter = waitForReport();
		for (int attempts = 4; attempts < 7; attempts++) {
			quiet(QUIET.minusSeconds(1));
			this.feed.send((listener) -> listener.released("a"));
			awaitAttempts(attempts);
			waiter.awaitWaiting();
		}
		assertThat(this.feed.isOpen()).isTrue();
	}

	@Test
	void aFeedIsOpenedAgainForTwiceAsLongByAReleaseThatItMissed() throws Exception {
		this.engine = this.world.newEngine(LockWorld.settings(LockWorld.DEFAULTS, LockWorld.TIMEOUT,
				new EngineSettings.Poll(Duration.ofMillis(1), Duration.ofMillis(2))));
		Worker<LockEngine.Attempt> waiter = waitFor();
		LockWorld.eventually().until(this.feed::isOpen);
		this.feed.send(ReleaseFeed.Listener::listening);
		quiet(QUIET);
		int before = this.repository.count(Kind.ACQUIRE, "a");
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "a") > before + 5);
		assertThat(this.feed.isOpen()).as("while the same grant is found").isFalse();
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.answerHeldUp(gate));
		gate.awaitReached();
		this.repository.forceReleaseNow("a");
		this.world.seize("a", Duration.ofDays(1));
		gate.open();
		LockWorld.eventually().until(this.feed::isOpen);
		this.feed.send(ReleaseFeed.Listener::listening);
		quiet(QUIET.multipliedBy(2).minusSeconds(1));
		assertThat(this.feed.isOpen()).isTrue();
		quiet(Duration.ofSeconds(1));
		assertThat(this.feed.isOpen()).isFalse();
		assertThat(waiter.isDone()).isFalse();
	}

	@Test
	void anotherThreadThatWaitsOpensTheFeedAgain() throws Exception {
		Worker<LockEngine.Attempt> waiter = waitForReport();
		quiet(QUIET);
		assertThat(this.feed.isOpen()).isFalse();
		waitUntilRefused("b");
		assertThat(this.feed.isOpen()).isTrue();
	}

	private void quiet(Duration time) {
		this.world.clock().advance(time);
		this.engine.parts().signals().closeIfUnused();
	}

	@Test
	void aFeedThatIsNotToBeUsedIsNeverOpened(CapturedOutput output) throws Exception {
		this.engine = this.world.newEngine(LockWorld.settings(LockWorld.DEFAULTS, LockWorld.TIMEOUT,
				new EngineSettings.Poll(Duration.ofMillis(1), Duration.ofMillis(2), true)));
		assertThat(this.engine.parts().signals().isPolling()).as("before anything was waited for").isTrue();
		assertThat(this.engine.state().releases()).isEqualTo(EngineState.ReleaseNews.IDLE);
		Worker<LockEngine.Attempt> waiter = waitFor();
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "a") > 10);
		assertThat(this.engine.state().releases()).isEqualTo(EngineState.ReleaseNews.POLL);
		this.repository.release(this.other, Duration.ZERO, LockWorld.TIMEOUT);
		assertThat(waiter.result()).isInstanceOf(LockEngine.Granted.class);
		assertThat(this.feed.openings()).isZero();
		assertThat(output).doesNotContain("Waiters poll");
	}

	@Test
	void aFeedThatIsOpenIsOpenedOnce() throws Exception {
		waitUntilRefused("b");
		waitUntilRefused("c");
		assertThat(this.feed.openings()).isEqualTo(1);
	}

	@Test
	void aFeedThatDiedIsOpenedForTheNextWaiter() throws Exception {
		waitUntilRefused("b");
		this.feed.send(ReleaseFeed.Listener::listening);
		this.feed.die();
		waitUntilRefused("c");
		assertThat(this.feed.openings()).isEqualTo(2);
		Worker<LockEngine.Attempt> waiter = waitFor();
		awaitAttempts(2);
		waiter.awaitWaiting();
		this.repository.release(this.other, Duration.ZERO, LockWorld.TIMEOUT);
		this.feed.send((listener) -> listener.released("a"));
		assertThat(waiter.result()).isInstanceOf(LockEngine.Granted.class);
	}

	@Test
	void aFeedThatCouldNotBeOpenedIsOpenedForTheNextWaiter() throws Exception {
		Error failure = new OutOfMemoryError("scripted: no thread");
		this.feed.fail(failure);
		assertThat(waitFor().failure()).isSameAs(failure);
		assertThat(this.feed.isOpen()).isFalse();
		waitUntilRefused("b");
		assertThat(this.feed.isOpen()).isTrue();
	}

	@Test
	void signalsOfAnEarlierOpeningChangeNothingAfterItsClose() throws Exception {
		Worker<LockEngine.Attempt> waiter = waitFor();
		this.feed.send(ReleaseFeed.Listener::listening);
		awaitAttempts(3);
		assertThat(this.feed.isOpen()).isTrue();
		this.engine.close();
		assertThat(this.feed.isOpen()).isFalse();
		this.feed.send(ReleaseFeed.Listener::listening);
		this.feed.send((listener) -> listener.interrupted("closed"));
		this.feed.send((listener) -> listener.unsupported("closed"));
		this.feed.send((listener) -> listener.released("a"));
		assertThat(waiter.failure()).isNotNull();
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(3);
	}

}
