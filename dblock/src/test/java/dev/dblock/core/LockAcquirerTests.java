package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import dev.dblock.ForeignDocumentException;
import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.engine.LockEngine;
import dev.dblock.store.LeaseKey;
import dev.dblock.store.RepositoryInterruptedException;
import dev.dblock.store.UnreachableStoreException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.dao.InvalidDataAccessApiUsageException;
import org.springframework.dao.PermissionDeniedDataAccessException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.dao.RecoverableDataAccessException;
import org.springframework.dao.TransientDataAccessResourceException;
import org.springframework.test.util.ReflectionTestUtils;

import static dev.dblock.core.LockWorld.granted;
import static dev.dblock.core.LockWorld.refused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for {@link LockAcquirer}, through the engine.
 */
@Timeout(300)
class LockAcquirerTests {

	private static final Duration BRIEF = Duration.ofMillis(500);

	@RegisterExtension
	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private LockEngine.Attempt acquire(String name) {
		return this.world.engine().acquire(name, LockOptions.defaults());
	}

	private Worker<LockEngine.Attempt> waitFor(Duration wait) {
		return waitFor(this.world.engine(), wait);
	}

	private static Worker<LockEngine.Attempt> waitFor(DefaultLockEngine engine, Duration wait) {
		return Worker.start(() -> engine.acquire("a", LockOptions.defaults().waitUpTo(wait)));
	}

	private void awaitAttempts(int attempts) {
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "a") >= attempts);
	}

	/**
	 * Let time pass until the work is done.
	 */
	private <T> Worker<T> goOn(Worker<T> worker) {
		LockWorld.eventually().until(() -> {
			this.world.clock().advance(Duration.ofMillis(2));
			return worker.isDone();
		});
		return worker;
	}

	private void awaitReleases(int releases) {
		LockWorld.eventually().until(() -> this.repository.count(Kind.RELEASE, "a") >= releases);
	}

	@Test
	void aFreeLockIsGrantedInOneRequest() {
		LockHandle handle = granted(acquire("a"));
		assertThat(handle.name()).isEqualTo("a");
		assertThat(handle.isHeld()).isTrue();
		assertThat(handle.remaining()).isEqualTo(LockWorld.LEASE);
		assertThat(handle.token()).isEqualTo(this.repository.peek("a").token() - 1023);
		assertThat(this.repository.requests(Kind.ACQUIRE)).hasSize(1);
		assertThat(this.repository.requests(Kind.ACQUIRE).get(0).timeout()).isEqualTo(LockWorld.TIMEOUT);
	}

	@Test
	void aRequestMayNotTakeLongerThanTheLeaseItAsksFor() {
		this.world.engine().acquire("a", LockOptions.lease(Duration.ofSeconds(2)));
		assertThat(this.repository.requests(Kind.ACQUIRE).get(0).timeout()).isEqualTo(Duration.ofSeconds(2));
	}

	@Test
	void withoutAWaitAHeldLockIsRefusedInOneRequest() {
		this.world.seize("a", LockWorld.LEASE);
		this.world.clock().advance(Duration.ofSeconds(1));
		LockRefusal refusal = refused(acquire("a"));
		assertThat(refusal.name()).isEqualTo("a");
		assertThat(refusal.waited()).isZero();
		assertThat(refusal.holder()).isEqualTo(this.repository.peek("a"));
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(2);
		assertThat(this.world.news()).containsExactly("unavailable a");
	}

	@ParameterizedTest
	@ValueSource(longs = { 1, 5_000 })
	void aWaitIsOverExactlyWhenItsTimeIs(long millis) throws Exception {
		Duration wait = Duration.ofMillis(millis);
		this.world.seize("a", LockWorld.LEASE);
		Worker<LockEngine.Attempt> waiter = waitFor(wait);
		awaitAttempts(2);
		waiter.awaitWaiting();
		this.world.clock().advance(wait.minusNanos(1));
		waiter.awaitWaiting();
		assertThat(waiter.isDone()).isFalse();
		this.world.clock().advance(Duration.ofNanos(1));
		assertThat(refused(waiter.result()).waited()).isEqualTo(wait);
	}

	@Test
	void aShortWaitLastsNoLongerOnRealClocksAlthoughPollsAreFarApart() {
		this.world.seize("a", LockWorld.LEASE);
		DefaultLockEngine engine = new DefaultLockEngine(this.repository,
				LockWorld.settings(LockWorld.DEFAULTS, LockWorld.TIMEOUT, LockWorld.RARE_POLLS), List.of());
		long start = System.nanoTime();
		LockRefusal refusal = refused(engine.acquire("a", LockOptions.defaults().waitUpTo(Duration.ofMillis(60))));
		Duration took = Duration.ofNanos(System.nanoTime() - start);
		engine.close();
		assertThat(refusal.waited()).isBetween(Duration.ofMillis(60), took);
		assertThat(took).isBetween(Duration.ofMillis(60), Duration.ofMinutes(30));
		// On a slow machine, the first answer already comes at the end of the wait
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).as("seized, tried, and tried at last").isBetween(2, 3);
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 7 })
	void aReleaseThatWentUnnoticedIsFoundBeforeTheWaitersGiveUp(int waiters) throws Exception {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.TIMEOUT, LockWorld.RARE_POLLS);
		LeaseKey other = this.world.seize("a", Duration.ofDays(1));
		Worker<LockEngine.Attempt> head = waitFor(engine, BRIEF);
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "a") == 2);
		List<Worker<LockEngine.Attempt>> others = IntStream.range(1, waiters)
			.mapToObj((i) -> waitFor(engine, BRIEF))
			.toList();
		LockWorld.eventually().until(() -> engine.parts().queues().waiters() == waiters);
		head.awaitWaiting();
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
		this.world.clock().advance(BRIEF);
		LockHandle handle = granted(head.result());
		for (Worker<LockEngine.Attempt> each : others) {
			LockRefusal refusal = refused(each.result());
			assertThat(refusal.holder()).isNotNull().extracting(LockInfo::holder).isNotEqualTo(other.holder());
		}
		assertThat(handle.isHeld()).isTrue();
		handle.close();
	}

	@Test
	void aWaiterBehindALongerOneIsNotRefusedByAnOldAnswer() throws Exception {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.TIMEOUT, LockWorld.RARE_POLLS);
		LeaseKey other = this.world.seize("a", Duration.ofDays(1));
		Worker<LockEngine.Attempt> head = waitFor(engine, Duration.ofDays(1));
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "a") == 2);
		Worker<LockEngine.Attempt> behind = waitFor(engine, BRIEF);
		LockWorld.eventually().until(() -> engine.parts().queues().waiters() == 2);
		head.awaitWaiting();
		behind.awaitWaiting();
		this.world.clock().advance(BRIEF);
		assertThat(refused(behind.result()).holder()).isNotNull()
			.extracting(LockInfo::holder)
			.isEqualTo(other.holder());
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).as("the first one has asked for both").isEqualTo(3);
		Worker<LockEngine.Attempt> next = waitFor(engine, BRIEF);
		LockWorld.eventually().until(() -> engine.parts().queues().waiters() == 2);
		next.awaitWaiting();
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
		this.world.clock().advance(BRIEF);
		LockHandle handle = granted(head.result());
		assertThat(refused(next.result()).holder()).isNotNull()
			.extracting(LockInfo::holder)
			.isNotEqualTo(other.holder());
		handle.close();
	}

	@Test
	void waitersWhoseTimesEndOneAfterTheOtherShareALastRequest() throws Exception {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.TIMEOUT, LockWorld.RARE_POLLS);
		this.world.seize("a", Duration.ofDays(1));
		Worker<LockEngine.Attempt> head = waitFor(engine, Duration.ofDays(1));
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "a") == 2);
		Worker<LockEngine.Attempt> first = waitFor(engine, BRIEF);
		Worker<LockEngine.Attempt> second = waitFor(engine, BRIEF.plusMillis(1));
		LockWorld.eventually().until(() -> engine.parts().queues().waiters() == 3);
		head.awaitWaiting();
		first.awaitWaiting();
		second.awaitWaiting();
		this.world.clock().advance(BRIEF);
		assertThat(refused(first.result()).holder()).isNotNull();
		this.world.clock().advance(Duration.ofMillis(1));
		assertThat(refused(second.result()).holder()).isNotNull();
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).as("seized, tried, and tried at last for both")
			.isEqualTo(3);
		engine.close();
	}

	@Test
	void aLastRequestThatIsNotAnsweredIsAnError() throws Exception {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.TIMEOUT, LockWorld.RARE_POLLS);
		this.world.seize("a", Duration.ofDays(1));
		Worker<LockEngine.Attempt> waiter = waitFor(engine, BRIEF);
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "a") == 2);
		waiter.awaitWaiting();
		this.repository.always(Kind.ACQUIRE,
				Fault.lost(() -> new UnreachableStoreException("no server", new Exception())));
		this.world.clock().advance(BRIEF);
		assertThat(waiter.failure()).isInstanceOf(UnreachableStoreException.class);
	}

	static Stream<Duration> longWaits() {
		return Stream.of(Duration.ofDays(365), Duration.ofSeconds(Long.MAX_VALUE));
	}

	@ParameterizedTest
	@MethodSource("longWaits")
	void aLongWaitEndsWhenTheLockIsReleased(Duration wait) throws Exception {
		LeaseKey other = this.world.seize("a", LockWorld.LEASE);
		Worker<LockEngine.Attempt> waiter = waitFor(wait);
		awaitAttempts(2);
		waiter.awaitWaiting();
		this.world.clock().advance(Duration.ofMillis(2));
		awaitAttempts(3);
		assertThat(waiter.isDone()).isFalse();
		this.repository.release(other, Duration.ZERO, LockWorld.TIMEOUT);
		granted(goOn(waiter).result()).close();
	}

	@Test
	void aWaitEndsWhenTheHoldersLeaseDoes() throws Exception {
		this.world.seize("a", Duration.ofSeconds(10));
		Worker<LockEngine.Attempt> waiter = waitFor(Duration.ofMinutes(1));
		awaitAttempts(2);
		waiter.awaitWaiting();
		this.world.clock().advance(Duration.ofMillis(10_509));
		awaitAttempts(3);
		waiter.awaitWaiting();
		assertThat(waiter.isDone()).isFalse();
		this.world.clock().advance(Duration.ofMillis(3));
		granted(waiter.result()).close();
	}

	@Test
	void aWaiterAsksAtTheKnownEndOfTheLeaseAlthoughItsPollsAreFarApart() throws Exception {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.TIMEOUT, LockWorld.RARE_POLLS);
		this.world.seize("a", Duration.ofMillis(20));
		this.world.clock().advance(Duration.ofMillis(500));
		Worker<LockEngine.Attempt> waiter = waitFor(engine, Duration.ofMinutes(1));
		awaitAttempts(2);
		waiter.awaitWaiting();
		this.world.clock().advance(Duration.ofMillis(22));
		granted(waiter.result()).close();
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isGreaterThanOrEqualTo(3);
	}

	@Test
	void aWaiterGivesAServerTwiceTheTimeAfterEachTimeoutInARow() throws Exception {
		Fault timeout = Fault.lost(Fault.timeout());
		this.repository.next(Kind.ACQUIRE, timeout, timeout, Fault.NO_SERVER, Fault.NO_SERVER, timeout, timeout,
				timeout, timeout);
		granted(waitFor(Duration.ofDays(1)).result()).close();
		assertThat(this.repository.requests(Kind.ACQUIRE, "a")).extracting((request) -> request.timeout().toMillis())
			.containsExactly(1250L, 2500L, 5000L, 5000L, 1250L, 2500L, 5000L, 5000L, 5000L);
	}

	@ParameterizedTest
	@ValueSource(longs = { 100, 600, 1_200, 1_249, 1_250, 1_300, 1_799, 1_801, 2_000, 2_500, 3_000, 4_000, 4_999 })
	void aWaitThatIsLongerThanTwoRequestsIsGrantedAFreeLockHoweverSlowTheServer(long latencyMillis) {
		Duration latency = Duration.ofMillis(latencyMillis);
		this.repository.always(Kind.ACQUIRE, (request, store) -> {
			boolean tooSlow = latency.compareTo(request.timeout()) >= 0;
			this.world.clock().advance(tooSlow ? request.timeout() : latency);
			if (tooSlow) {
				throw Fault.timeout().get();
			}
			return store.get();
		});
		this.repository.always(Kind.FIND, (request, store) -> {
			this.world.clock().advance(request.timeout().plus(LockWorld.POLL.minInterval()));
			throw Fault.timeout().get();
		});
		for (long more : new long[] { 1, 500, 1_000, 2_000, 5_000, 10_000, 60_000 }) {
			LockOptions options = LockOptions.defaults().waitUpTo(latency.multipliedBy(2).plusMillis(more));
			granted(this.world.engine().acquire("after-" + more, options)).close();
		}
	}

	@Test
	void theLastRequestOfAWaitMayTakeASecond() throws Exception {
		this.world.seize("a", LockWorld.LEASE);
		Worker<LockEngine.Attempt> waiter = waitFor(Duration.ofMillis(4_500));
		awaitAttempts(2);
		this.world.clock().advance(Duration.ofMillis(4_400));
		LockWorld.eventually()
			.untilAsserted(() -> assertThat(this.repository.requests(Kind.ACQUIRE, "a")).extracting(Request::timeout)
				.contains(Duration.ofMillis(1_250), Duration.ofSeconds(1)));
		this.world.clock().advance(Duration.ofSeconds(1));
		refused(waiter.result());
		assertThat(this.repository.requests(Kind.ACQUIRE, "a")).extracting(Request::timeout)
			.endsWith(Duration.ofSeconds(1));
	}

	@Test
	void anInterruptedThreadSendsNoRequest() {
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(() -> acquire("a"))
			.withMessageContaining("'a'")
			.withMessageContaining("not held");
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.repository.count(Kind.ACQUIRE)).isZero();
	}

	@Test
	void anInterruptEndsTheWait() throws Exception {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.TIMEOUT, LockWorld.RARE_POLLS);
		this.world.seize("a", Duration.ofDays(1));
		Worker<LockEngine.Attempt> waiter = waitFor(engine, Duration.ofDays(1));
		awaitAttempts(2);
		waiter.awaitWaiting();
		waiter.interrupt();
		assertThat(waiter.failure()).isInstanceOf(LockInterruptedException.class);
		assertThat(waiter.isInterruptedAfterwards()).isTrue();
	}

	@Test
	void anInterruptInTheRequestReleasesAPossibleGrant() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.answerHeldUp(gate));
		Worker<LockEngine.Attempt> worker = waitFor(Duration.ZERO);
		gate.awaitReached();
		assertThat(this.repository.isHeld("a")).isTrue();
		worker.interrupt();
		assertThat(worker.failure()).isInstanceOf(LockInterruptedException.class)
			.hasCauseInstanceOf(RepositoryInterruptedException.class);
		assertThat(worker.isInterruptedAfterwards()).isTrue();
		LockWorld.eventually().until(() -> !this.repository.isHeld("a"));
	}

	@Test
	void anInterruptedThreadDoesNotRetryAfterATransientError() throws Exception {
		this.repository.always(Kind.ACQUIRE, (request, store) -> {
			Thread.currentThread().interrupt();
			throw new DataAccessResourceFailureException("no server");
		});
		Worker<LockEngine.Attempt> waiter = waitFor(Duration.ofDays(1));
		assertThat(waiter.failure()).isInstanceOf(LockInterruptedException.class);
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(1);
	}

	@Test
	void anAttemptInDoubtIsReleasedAtOnceAndAgainAfterItsTimeLimit() {
		DefaultLockEngine engine = this.world.newEngine(Duration.ofMillis(30), LockWorld.POLL);
		this.repository.next(Kind.ACQUIRE, Fault.lost(Fault.timeout()));
		assertThatExceptionOfType(QueryTimeoutException.class)
			.isThrownBy(() -> engine.acquire("a", LockOptions.defaults()));
		LockWorld.eventually().until(() -> this.repository.count(Kind.RELEASE, "a") >= 2);
		LeaseKey attempt = this.repository.requests(Kind.ACQUIRE).get(0).lease();
		assertThat(this.repository.requests(Kind.RELEASE)).extracting(Request::lease).containsOnly(attempt);
	}

	@Test
	void aRequestThatIsAppliedAfterTheFirstReleaseIsReleasedByTheSecond() {
		DefaultLockEngine engine = this.world.newEngine(Duration.ofMillis(30), LockWorld.POLL);
		AtomicReference<Supplier<Object>> underWay = new AtomicReference<>();
		this.repository.next(Kind.ACQUIRE, (request, store) -> {
			underWay.set(store);
			throw Fault.timeout().get();
		});
		this.repository.next(Kind.RELEASE, Fault.before(() -> assertThat(underWay.get().get()).isNotNull()));
		assertThatExceptionOfType(QueryTimeoutException.class)
			.isThrownBy(() -> engine.acquire("a", LockOptions.defaults()));
		awaitReleases(2);
		LockWorld.eventually().until(() -> this.repository.peek("a").releasedAt() != null);
		assertThat(this.repository.isHeld("a")).isFalse();
	}

	@Test
	void anAttemptInDoubtForLongerThanItsLeaseIsNotReleasedAnyMore() throws Exception {
		List<Gate> gates = new ArrayList<>();
		this.repository.always(Kind.ACQUIRE, Fault.lost(Fault.timeout()));
		for (int i = 0; i < EngineThreads.MOST_RELEASES_AT_ONCE; i++) {
			Gate gate = new Gate();
			gates.add(gate);
			this.repository.next(Kind.RELEASE, Fault.heldUp(gate));
			assertThatThrownBy(() -> acquire("first")).isInstanceOf(QueryTimeoutException.class);
			gate.awaitReached();
		}
		for (int i = 0; i < 100; i++) {
			assertThatThrownBy(() -> acquire("a")).isInstanceOf(QueryTimeoutException.class);
		}
		this.world.clock().advance(LockWorld.LEASE.plus(LockWorld.TIMEOUT).plusNanos(1));
		assertThatThrownBy(() -> acquire("last")).isInstanceOf(QueryTimeoutException.class);
		gates.forEach(Gate::open);
		LockWorld.eventually().until(() -> this.repository.count(Kind.RELEASE, "last") >= 1);
		assertThat(this.repository.count(Kind.RELEASE, "a")).isZero();
	}

	@Test
	void anErrorOfTheMachineLeavesNoLockBehind() {
		this.repository.next(Kind.ACQUIRE, Fault.answerLost(() -> new StackOverflowError("scripted")));
		assertThatThrownBy(() -> acquire("a")).isInstanceOf(StackOverflowError.class);
		LockWorld.eventually().until(() -> !this.repository.isHeld("a"));
	}

	@Test
	void everyAttemptHasARandomIdOfItsOwn() throws Exception {
		this.repository.next(Kind.ACQUIRE, Fault.NO_SERVER, Fault.NO_SERVER, Fault.answerLost(Fault.timeout()));
		LockHandle handle = granted(goOn(waitFor(Duration.ofMinutes(1))).result());
		assertThat(this.repository.requests(Kind.ACQUIRE)).hasSizeGreaterThanOrEqualTo(4)
			.extracting((request) -> request.lease().holder())
			.doesNotHaveDuplicates()
			.allMatch((id) -> id.length() == 22);
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.repository.isHeld("a")).isTrue();
	}

	@Test
	void aGrantThatIsAnsweredAfterItsLeaseIsRefused() {
		this.repository.next(Kind.ACQUIRE, Fault.before(() -> this.world.clock().advance(LockWorld.LEASE)));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> acquire("a"))
			.withMessageContaining("'a'")
			.withMessageContaining("30 s");
		LockWorld.eventually().until(() -> !this.repository.isHeld("a"));
		assertThat(this.world.news()).isEmpty();
	}

	@Test
	void aGrantThatIsAnsweredJustWithinItsLeaseCounts() {
		this.repository.next(Kind.ACQUIRE,
				Fault.before(() -> this.world.clock().advance(LockWorld.LEASE.minusNanos(1))));
		assertThat(granted(acquire("a")).remaining()).isLessThanOrEqualTo(Duration.ofSeconds(30));
	}

	@Test
	void aWaiterAsksAgainAfterAnAnswerThatCameTooLate() throws Exception {
		this.repository.next(Kind.ACQUIRE, Fault.before(() -> this.world.clock().advance(LockWorld.LEASE)));
		LockHandle handle = granted(goOn(waitFor(Duration.ofMinutes(5))).result());
		assertThat(handle.isHeld()).isTrue();
	}

	@Test
	void aGrantThatWasAnsweredWhileTheMachineSleptIsRefused() {
		this.repository.next(Kind.ACQUIRE, Fault.before(() -> this.world.clock().suspend(Duration.ofHours(1))));
		assertThatExceptionOfType(QueryTimeoutException.class).isThrownBy(() -> acquire("a"));
		assertThat(this.world.news()).isEmpty();
	}

	static Stream<Supplier<DataAccessException>> passingErrors() {
		return Stream.of(() -> new DataAccessResourceFailureException("no server"),
				() -> new TransientDataAccessResourceException("election"),
				() -> new RecoverableDataAccessException("connection closed"),
				() -> new QueryTimeoutException("time limit"));
	}

	@ParameterizedTest
	@MethodSource("passingErrors")
	void aTransientErrorIsThrownWithoutAWait(Supplier<DataAccessException> error) {
		this.repository.always(Kind.ACQUIRE, Fault.lost(error));
		assertThatThrownBy(() -> acquire("a")).isInstanceOf(error.get().getClass());
		int attempts = (error.get() instanceof DataAccessResourceFailureException) ? 2 : 1;
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(attempts);
	}

	@Test
	void aCallerThatItsOwnLostAttemptRefusesGetsTheErrorAndNoRefusal() {
		this.repository.next(Kind.ACQUIRE,
				Fault.answerLost(() -> new DataAccessResourceFailureException("stepped down")));
		this.repository.always(Kind.RELEASE,
				Fault.lost(() -> new DataAccessResourceFailureException("no primary yet")));
		assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(() -> acquire("a"))
			.withMessage("stepped down");
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(2);
		this.repository.heal();
		granted(acquire("a"));
	}

	@Test
	void whereThereIsNoServerAtAllNothingIsAskedAgain() {
		this.repository.always(Kind.ACQUIRE,
				Fault.lost(() -> new UnreachableStoreException("no server", new Exception())));
		assertThatExceptionOfType(UnreachableStoreException.class).isThrownBy(() -> acquire("a"));
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
	}

	@Test
	void anAttemptThatWasNotSentIsNotReleased() {
		DefaultLockEngine engine = this.world.newEngine(Duration.ofMillis(30), LockWorld.POLL);
		this.repository.next(Kind.ACQUIRE,
				Fault.lost(() -> new UnreachableStoreException("no server", new Exception())));
		assertThatExceptionOfType(UnreachableStoreException.class)
			.isThrownBy(() -> engine.acquire("a", LockOptions.defaults()));
		this.repository.next(Kind.ACQUIRE, Fault.lost(Fault.timeout()));
		assertThatExceptionOfType(QueryTimeoutException.class)
			.isThrownBy(() -> engine.acquire("later", LockOptions.defaults()));
		LockWorld.eventually().until(() -> this.repository.count(Kind.RELEASE, "later") >= 2);
		assertThat(this.repository.count(Kind.RELEASE, "a")).isZero();
	}

	@Test
	void anAttemptThatWasSentIsReleasedThoughTheNextOneWasNotSent() {
		DefaultLockEngine engine = this.world.newEngine(Duration.ofSeconds(1), LockWorld.POLL);
		this.repository.next(Kind.ACQUIRE,
				Fault.answerLost(() -> new DataAccessResourceFailureException("stepped down")),
				Fault.lost(() -> new UnreachableStoreException("no server", new Exception())));
		this.repository.next(Kind.RELEASE,
				Fault.lost(() -> new UnreachableStoreException("no server", new Exception())));
		assertThatExceptionOfType(UnreachableStoreException.class)
			.isThrownBy(() -> engine.acquire("a", LockOptions.defaults()));
		awaitReleases(2);
		List<Request> attempts = this.repository.requests(Kind.ACQUIRE);
		assertThat(attempts).hasSize(2);
		assertThat(this.repository.requests(Kind.RELEASE)).extracting(Request::lease)
			.containsOnly(attempts.get(0).lease());
		assertThat(this.repository.isHeld("a")).isFalse();
	}

	@Test
	void nothingIsAskedAgainInTheLastMomentOfItsTime() {
		this.repository.always(Kind.ACQUIRE, (request, store) -> {
			this.world.clock().advance(request.timeout().minusMillis(99));
			throw new DataAccessResourceFailureException("gone");
		});
		assertThatExceptionOfType(DataAccessResourceFailureException.class).isThrownBy(() -> acquire("a"));
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
	}

	@Test
	void anAttemptThatOneServerRejectsIsReleasedAndRepeatedUnderAnotherId() {
		this.repository.next(Kind.ACQUIRE,
				Fault.answerLost(() -> new DataAccessResourceFailureException("not the primary any more")));
		LeaseKey granted = ((LeaseHandle) granted(acquire("a"))).lease().key();
		LeaseKey lost = this.repository.requests(Kind.ACQUIRE).get(0).lease();
		assertThat(this.repository.requests(Kind.ACQUIRE)).extracting(Request::lease).containsExactly(lost, granted);
		assertThat(this.repository.requests(Kind.RELEASE)).extracting(Request::lease).contains(lost);
		assertThat(granted).isNotEqualTo(lost);
	}

	@ParameterizedTest
	@MethodSource("passingErrors")
	void aTransientErrorIsRetriedWithinAWait(Supplier<DataAccessException> error) throws Exception {
		this.repository.next(Kind.ACQUIRE, Fault.lost(error), Fault.lost(error));
		granted(goOn(waitFor(Duration.ofMinutes(1))).result());
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(3);
	}

	@ParameterizedTest
	@MethodSource("passingErrors")
	void anErrorThatLastsIsThrownAtTheEndOfTheWaitAndNeverReportedAsARefusal(Supplier<DataAccessException> error)
			throws Exception {
		this.repository.always(Kind.ACQUIRE, Fault.lost(error));
		Worker<LockEngine.Attempt> waiter = waitFor(Duration.ofSeconds(3));
		awaitAttempts(1);
		waiter.awaitWaiting();
		this.world.clock().advance(Duration.ofMillis(2));
		awaitAttempts(2);
		waiter.awaitWaiting();
		this.world.clock().advance(Duration.ofSeconds(3));
		assertThat(waiter.failure()).isInstanceOf(error.get().getClass());
		assertThat(this.world.news()).isEmpty();
	}

	@Test
	void waitersWhoseTimeIsUpBeforeTheFirstAnswerGetTheFailureOfTheThreadThatAsked() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, (request, store) -> {
			gate.pass();
			throw new UnreachableStoreException("no server", new Exception());
		});
		Worker<LockEngine.Attempt> first = waitFor(BRIEF);
		List<Worker<LockEngine.Attempt>> others = lateWaitersBehindTheFirst(gate, BRIEF);
		gate.open();
		assertThat(first.failure()).isInstanceOf(UnreachableStoreException.class);
		for (Worker<LockEngine.Attempt> other : others) {
			assertThat(other.failure()).isInstanceOf(DataAccessResourceFailureException.class)
				.hasMessageContaining("'a'")
				.hasCauseInstanceOf(UnreachableStoreException.class);
		}
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
		assertThat(this.world.news()).isEmpty();
	}

	@Test
	void waitersWhoseTimeIsUpBeforeTheFirstAnswerAreRefusedByIt() throws Exception {
		LeaseKey holder = this.world.seize("a", LockWorld.LEASE);
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.answerHeldUp(gate));
		Worker<LockEngine.Attempt> first = waitFor(BRIEF);
		List<Worker<LockEngine.Attempt>> others = lateWaitersBehindTheFirst(gate, BRIEF);
		gate.open();
		for (Worker<LockEngine.Attempt> waiter : Stream.concat(Stream.of(first), others.stream()).toList()) {
			assertThat(refused(waiter.result()).holder()).extracting(LockInfo::holder).isEqualTo(holder.holder());
		}
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).as("seized and tried").isEqualTo(2);
	}

	@Test
	void waitersWhoseTimeIsUpBeforeTheFirstAnswerAreRefusedWhenTheThreadThatAskedHasTheLock() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.answerHeldUp(gate));
		Worker<LockEngine.Attempt> first = waitFor(BRIEF);
		List<Worker<LockEngine.Attempt>> others = lateWaitersBehindTheFirst(gate, BRIEF);
		gate.open();
		LockHandle kept = granted(first.result());
		for (Worker<LockEngine.Attempt> other : others) {
			assertThat(refused(other.result()).holder()).extracting(LockInfo::acquirer).isEqualTo("host-1:4711:k7");
		}
		kept.close();
	}

	@Test
	void waitersWithoutAnAnswerASecondAfterTheirTimeAreNotRefused() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.answerHeldUp(gate));
		Worker<LockEngine.Attempt> first = waitFor(Duration.ofMinutes(1));
		List<Worker<LockEngine.Attempt>> others = lateWaitersBehindTheFirst(gate, BRIEF.plusMillis(999));
		this.world.clock().advance(Duration.ofMillis(1));
		for (Worker<LockEngine.Attempt> other : others) {
			assertThat(other.failure()).isInstanceOf(QueryTimeoutException.class)
				.hasMessageContaining("'a'")
				.hasMessageContaining("MongoDB has not answered yet");
		}
		gate.open();
		granted(first.result()).close();
		assertThat(this.world.news()).as("nothing is known to be unavailable").doesNotContain("unavailable a");
	}

	@Test
	void waitersWithoutAnAnswerInTheirTimeAreRefusedAtOnceWhenTheApplicationCloses() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.answerHeldUp(gate));
		Worker<LockEngine.Attempt> first = waitFor(Duration.ofMinutes(1));
		List<Worker<LockEngine.Attempt>> others = lateWaitersBehindTheFirst(gate, BRIEF);
		this.world.engine().refuseWaiters();
		for (Worker<LockEngine.Attempt> other : others) {
			assertThat(other.failure()).isInstanceOf(LockShutdownException.class);
		}
		gate.open();
		granted(first.result()).close();
	}

	/**
	 * Threads that wait behind the one that has asked, until their time is up.
	 */
	private List<Worker<LockEngine.Attempt>> lateWaitersBehindTheFirst(Gate gate, Duration passed) throws Exception {
		gate.awaitReached();
		List<Worker<LockEngine.Attempt>> others = IntStream.range(0, 7).mapToObj((i) -> waitFor(BRIEF)).toList();
		LockWorld.eventually().until(() -> this.world.engine().parts().queues().waiters() == 8);
		this.world.clock().advance(passed);
		awaitLate(others.size());
		return others;
	}

	/**
	 * Wait until the time of so many waiters is up and none of them has an answer.
	 */
	private void awaitLate(int waiters) {
		LocalQueue queue = this.world.engine().parts().queues().find("a");
		LockWorld.eventually().until(() -> {
			Set<?> all = (Set<?>) ReflectionTestUtils.getField(queue, "waiters");
			synchronized (queue) {
				return all.stream()
					.filter((waiter) -> Boolean.TRUE.equals(ReflectionTestUtils.getField(waiter, "awaitingAnswer")))
					.count() == waiters;
			}
		});
	}

	static Stream<Supplier<RuntimeException>> lastingErrors() {
		return Stream.of(() -> new PermissionDeniedDataAccessException("not allowed", null),
				() -> new InvalidDataAccessApiUsageException("not understood"),
				() -> new IllegalStateException("closed"));
	}

	@ParameterizedTest
	@MethodSource("lastingErrors")
	void aPermanentErrorIsThrownAtOnce(Supplier<RuntimeException> error) throws Exception {
		this.repository.always(Kind.ACQUIRE, Fault.lost(error));
		assertThat(waitFor(Duration.ofDays(1)).failure()).isInstanceOf(error.get().getClass());
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
	}

	@Test
	void afterATimeoutAReadShowsTheHolder() throws Exception {
		LeaseKey other = this.world.seize("a", LockWorld.LEASE);
		this.repository.always(Kind.ACQUIRE, Fault.lost(Fault.timeout()));
		Worker<LockEngine.Attempt> waiter = waitFor(Duration.ofSeconds(3));
		awaitAttempts(2);
		waiter.awaitWaiting();
		this.world.clock().advance(Duration.ofSeconds(3));
		LockRefusal refusal = refused(waiter.result());
		assertThat(refusal.holder()).isNotNull();
		assertThat(refusal.holder().holder()).isEqualTo(other.holder());
		assertThat(this.repository.requests(Kind.FIND)).isNotEmpty()
			.allSatisfy((look) -> assertThat(look.timeout()).isEqualTo(Duration.ofMillis(500)));
	}

	@Test
	void aReadThatFailsTooLeavesTheTimeout() throws Exception {
		this.repository.always(Kind.ACQUIRE, Fault.lost(Fault.timeout()));
		this.repository.always(Kind.FIND, Fault.NO_SERVER);
		Worker<LockEngine.Attempt> waiter = waitFor(Duration.ofSeconds(3));
		awaitAttempts(1);
		waiter.awaitWaiting();
		this.world.clock().advance(Duration.ofSeconds(3));
		assertThat(waiter.failure()).isInstanceOf(QueryTimeoutException.class)
			.satisfies((failure) -> assertThat(failure.getSuppressed()).hasSize(1)
				.hasOnlyElementsOfType(DataAccessResourceFailureException.class));
	}

	@Test
	void aReadThatFindsTheAttemptItselfProvesNothing() throws Exception {
		this.repository.next(Kind.ACQUIRE, Fault.answerLost(Fault.timeout()));
		this.repository.always(Kind.RELEASE, Fault.lost(Fault.timeout()));
		this.repository.next(Kind.FIND, Fault.before(() -> this.world.clock().advance(Duration.ofSeconds(1))));
		assertThat(waitFor(Duration.ofSeconds(1)).failure()).isInstanceOf(QueryTimeoutException.class);
		assertThat(this.repository.isHeld("a")).as("by the attempt itself").isTrue();
	}

	@Test
	void aForeignDocumentIsRefusedAndNotChanged() throws Exception {
		this.repository.putForeign("a");
		assertThat(waitFor(Duration.ofDays(1)).failure()).isInstanceOf(ForeignDocumentException.class);
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
		assertThat(this.repository.count(Kind.RELEASE)).isZero();
	}

	@Test
	void waitersAreRefusedAtOnceWhenTheApplicationCloses() throws Exception {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.TIMEOUT, LockWorld.RARE_POLLS);
		this.world.seize("a", Duration.ofDays(1));
		Worker<LockEngine.Attempt> waiter = waitFor(engine, Duration.ofDays(1));
		awaitAttempts(2);
		waiter.awaitWaiting();
		engine.refuseWaiters();
		assertThat(waiter.failure()).isInstanceOf(LockShutdownException.class).hasMessageContaining("'a'");
		assertThat(this.repository.count(Kind.ACQUIRE, "a")).isEqualTo(2);
		assertThat(waitFor(engine, Duration.ofDays(1)).failure()).isInstanceOf(LockShutdownException.class);
	}

	@Test
	void aCallerThatNeedNotWaitIsServedWhileTheApplicationCloses() throws Exception {
		this.world.engine().refuseWaiters();
		granted(waitFor(Duration.ofDays(1)).result()).close();
		this.world.seize("a", LockWorld.LEASE);
		refused(acquire("a"));
	}

	@Test
	void aClosedEngineServesNoCaller() {
		this.world.engine().close();
		assertThatExceptionOfType(LockShutdownException.class).isThrownBy(() -> acquire("a"));
		assertThat(this.repository.count(Kind.ACQUIRE)).isZero();
	}

	@Test
	void aGrantThatArrivesWhileTheEngineClosesIsReleasedBeforeItIsClosed() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.answerHeldUp(gate));
		Worker<LockEngine.Attempt> worker = waitFor(Duration.ZERO);
		gate.awaitReached();
		Worker<Boolean> closing = this.world.startClosing("a");
		assertThat(this.repository.isHeld("a")).isTrue();
		gate.open();
		assertThat(closing.result()).as("free when the engine is closed").isTrue();
		assertThat(worker.failure()).isInstanceOf(LockShutdownException.class);
		assertThat(this.world.news()).as("neither the grant nor its end was reported").isEmpty();
	}

	@Test
	void aGrantWhoseReleaseFailsWhileTheEngineClosesIsStillAShutdown() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.answerHeldUp(gate));
		this.repository.always(Kind.RELEASE, Fault.lost(() -> new IllegalStateException("the client is closed")));
		Worker<LockEngine.Attempt> worker = waitFor(Duration.ZERO);
		gate.awaitReached();
		Worker<Boolean> closing = this.world.startClosing("a");
		gate.open();
		assertThat(worker.failure()).isInstanceOf(LockShutdownException.class);
		assertThat(closing.result()).as("free when the engine is closed").isFalse();
	}

	@Test
	void theRequestNamesAcquirerThreadAndReason() throws Exception {
		Worker<LockEngine.Attempt> worker = Worker.start(() -> {
			Thread.currentThread().setName("invoices-1");
			return this.world.engine().acquire("a", LockOptions.defaults().why("nightly"));
		});
		LockHandle kept = granted(worker.result());
		assertThat(this.repository.peek("a").acquirer()).isEqualTo("host-1:4711:k7");
		assertThat(this.repository.peek("a").thread()).isEqualTo("invoices-1");
		assertThat(this.repository.peek("a").why()).isEqualTo("nightly");
		kept.close();
	}

	@Test
	void aThreadWithoutANameIsKnownByItsNumber() throws Exception {
		Worker<LockEngine.Attempt> worker = Worker.start(() -> {
			Thread.currentThread().setName("");
			return acquire("a");
		});
		LockHandle kept = granted(worker.result());
		assertThat(this.repository.peek("a").thread()).startsWith("thread-");
		kept.close();
	}

}
