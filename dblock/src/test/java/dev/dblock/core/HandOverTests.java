package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.LeaseOwner;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.PollPause.WaitCause;
import dev.dblock.engine.LockEngine;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.LeaseKey;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

@Timeout(300)
class HandOverTests {

	private static final LockOptions PATIENTLY = LockOptions.defaults().waitUpTo(Duration.ofMinutes(10));

	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private final List<Thread> threads = new ArrayList<>();

	@AfterEach
	void tearDown() throws InterruptedException {
		this.repository.heal();
		for (Thread thread : this.threads) {
			thread.interrupt();
			thread.join();
		}
		this.world.close();
	}

	@Test
	void passesTheLeaseOnWithoutARequest() {
		LockHandle first = take("stock");
		Waiting second = waitFor("stock", PATIENTLY);
		first.close();
		LockHandle handle = second.handle();
		assertThat(handle.token()).isEqualTo(first.token() + 1);
		assertThat(handle.isHeld()).isTrue();
		assertThat(first.isHeld()).isFalse();
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
		assertThat(this.repository.count(Kind.RELEASE)).isZero();
		handle.close();
		assertThat(this.repository.isHeld("stock")).isFalse();
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(1);
		assertNothingIsLeft();
	}

	@Test
	void isVisibleInThisProcessWhereasOthersSeeTheHolderInTheStore() {
		LockHandle first = take("stock", LockOptions.defaults().why("the first"));
		assertThat(this.world.engine().administration().find(this.world.engine().fullName("stock")))
			.contains(this.repository.peek("stock"));
		Waiting second = waitFor("stock", PATIENTLY.why("the second\nof two"));
		first.close();
		LockHandle handle = second.handle();
		DefaultLockEngine elsewhere = this.world.newEngine(LockWorld.settings(""));
		LockInfo stored = this.repository.peek("stock");
		assertThat(elsewhere.administration().find("stock")).contains(stored);
		assertThat(stored.why()).isEqualTo("the first");
		assertThat(stored.thread()).isEqualTo(Thread.currentThread().getName());
		LockInfo seen = this.world.engine().administration().find(this.world.engine().fullName("stock")).orElseThrow();
		assertThat(seen.thread()).isEqualTo("waiter");
		assertThat(seen.why()).isEqualTo(LeaseOwner.onOneLine("the second\nof two")).doesNotContain("\n");
		assertThat(seen).usingRecursiveComparison().ignoringFields("thread", "why").isEqualTo(stored);
		assertThat(this.world.engine().administration().find("stock")).contains(seen);
		assertThat(this.world.engine().administration().list(false, "", 10).locks()).containsExactly(seen);
		this.world.rob("stock");
		LockInfo robbed = this.repository.peek("stock");
		assertThat(this.world.engine().administration().find(this.world.engine().fullName("stock")))
			.as("another holder")
			.contains(robbed);
		assertThat(handle.release()).isFalse();
	}

	@Test
	void leavesTheSuccessorAloneWhenTheOldHandleIsClosedAgain() {
		LockHandle first = take("stock");
		Waiting second = waitFor("stock", PATIENTLY);
		first.close();
		LockHandle handle = second.handle();
		first.close();
		assertThat(first.release()).isFalse();
		((LeaseHandle) first).releaseAfterTransactions();
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.repository.isHeld("stock")).isTrue();
		handle.close();
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(1);
	}

	@Test
	void losesExactlyTheHolderThatHasTheLeaseThen() {
		LockHandle first = take("stock");
		Waiting second = waitFor("stock", PATIENTLY);
		first.close();
		LockHandle handle = second.handle();
		this.world.rob("stock");
		this.world.advance(LockWorld.LEASE.dividedBy(3));
		LockWorld.eventually().until(() -> !handle.isHeld());
		LockWorld.eventually()
			.untilAsserted(() -> assertThat(this.world.news()).containsOnlyOnce("lost stock TAKEN_OVER"));
		assertThat(first.release()).isFalse();
		assertThat(this.repository.isHeld("stock")).isTrue();
	}

	@Test
	void losesTheNextHolderByARenewalThatWasUnderWayDuringTheHandOver() {
		LockHandle first = take("stock");
		Waiting second = waitFor("stock", PATIENTLY);
		this.repository.next(Kind.RENEW, (request, store) -> {
			this.world.rob("stock");
			Object answer = store.get();
			first.close();
			assertThat(second.handle().isHeld()).isTrue();
			return answer;
		});
		this.world.advance(LockWorld.LEASE.dividedBy(3));
		LockHandle handle = second.handle();
		LockWorld.eventually().until(() -> !handle.isHeld());
		LockWorld.eventually().until(() -> this.world.news().contains("lost stock TAKEN_OVER"));
		assertThat(this.world.news()).containsOnlyOnce("released stock").containsOnlyOnce("lost stock TAKEN_OVER");
		assertThat(this.repository.count(Kind.RENEW)).isEqualTo(1);
	}

	@Test
	void isNotDoneDuringAMinimumHold() {
		LockHandle first = take("stock", LockOptions.defaults().minHold(Duration.ofSeconds(10)));
		Waiting second = waitFor("stock", PATIENTLY);
		this.world.clock().advance(Duration.ofSeconds(3));
		first.close();
		LockWorld.eventually().until(() -> this.repository.count(Kind.ACQUIRE, "stock") > 1);
		assertThat(second.isDone()).isFalse();
		this.world.clock().advance(Duration.ofSeconds(8));
		assertThat(second.handle().token()).isGreaterThan(first.token() + 1);
	}

	@Test
	void isNotDoneAfterAnExtension() {
		LockHandle first = take("stock");
		first.extend(Duration.ofMinutes(10));
		Waiting second = waitFor("stock", PATIENTLY);
		first.close();
		assertThat(second.handle().token()).isGreaterThan(first.token() + 1);
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(1);
	}

	@Test
	void isNotDoneWithLittleOfTheLeaseLeft() {
		LockHandle first = take("stock", LockOptions.defaults().autoRenew(false));
		Waiting second = waitFor("stock", PATIENTLY);
		this.world.clock().advance(LockWorld.LEASE.dividedBy(2).plusMillis(1));
		first.close();
		assertThat(second.handle().token()).isGreaterThan(first.token() + 1);
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(1);
	}

	@Test
	void isNotDoneForAnotherLease() {
		LockHandle first = take("stock");
		Waiting second = waitFor("stock", PATIENTLY.withLease(Duration.ofSeconds(20)));
		first.close();
		assertThat(second.handle().remaining()).isGreaterThan(Duration.ofSeconds(15));
		assertThat(this.repository.count(Kind.RELEASE)).isEqualTo(1);
	}

	@Test
	void endsWithTheReservedTokens() {
		DefaultLockEngine engine = handingOverFreely();
		LockHandle handle = ((LockEngine.Granted) engine.acquire("stock", LockOptions.defaults())).handle();
		long first = handle.token();
		long last = this.repository.peek("stock").token();
		while (handle.token() < last) {
			Waiting next = waitFor(engine, "stock", PATIENTLY);
			handle.close();
			assertThat(next.handle().token()).isEqualTo(handle.token() + 1);
			handle = next.handle();
		}
		assertThat(last - first).isGreaterThan(100);
		Waiting next = waitFor(engine, "stock", PATIENTLY);
		handle.close();
		assertThat(next.handle().token()).isGreaterThan(last);
		assertThat(this.repository.count(Kind.ACQUIRE)).isGreaterThanOrEqualTo(2);
	}

	@Test
	void passesOnWhatItsReceiverWillNotHave() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.heldUp(gate));
		Waiting impatient = start("stock", PATIENTLY);
		gate.awaitReached();
		LockHandle first = take("stock");
		Waiting next = waitFor("stock", PATIENTLY);
		first.close();
		impatient.interrupt();
		assertThat(impatient.failure()).isInstanceOf(LockInterruptedException.class);
		assertThat(next.handle().token()).isEqualTo(first.token() + 2);
		assertThat(this.world.news()).containsExactly("acquired stock", "released stock", "acquired stock");
		next.handle().close();
		assertNothingIsLeft();
	}

	@Test
	void leavesNoMinimumHoldOfWhatItsReceiverWillNotHave() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.heldUp(gate));
		Waiting impatient = start("stock", PATIENTLY.minHold(Duration.ofSeconds(10)));
		gate.awaitReached();
		take("stock").close();
		impatient.interrupt();
		assertThat(impatient.failure()).isInstanceOf(LockInterruptedException.class);
		take("stock").close();
		assertNothingIsLeft();
	}

	@Test
	void anInterruptIsReportedEvenIfTheReleaseFails() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.heldUp(gate));
		Waiting impatient = start("stock", PATIENTLY);
		gate.awaitReached();
		LockHandle first = take("stock");
		first.close();
		this.repository.always(Kind.RELEASE, (request, store) -> {
			this.world.clock().advance(LockWorld.LEASE);
			throw Fault.timeout().get();
		});
		impatient.interrupt();
		assertThat(impatient.failure()).isInstanceOf(LockInterruptedException.class);
		assertNothingIsLeft();
	}

	@Test
	void releasesALockHandedToAThreadThatTheStoreHasGrantedItToo() throws Exception {
		Gate gate = new Gate();
		this.repository.next(Kind.ACQUIRE, Fault.heldUp(gate));
		Waiting second = start("stock", PATIENTLY);
		gate.awaitReached();
		LockHandle first = take("stock");
		String id = this.repository.peek("stock").holder();
		this.repository.forceReleaseNow("stock");
		first.close();
		gate.open();
		LockHandle handle = second.handle();
		assertThat(handle.isHeld()).isTrue();
		assertThat(this.repository.peek("stock").holder()).isNotEqualTo(id);
		assertThat(this.repository.requests(Kind.RELEASE)).extracting((request) -> request.lease().holder())
			.containsExactly(id);
		assertThat(handle.isHeld()).isTrue();
		handle.close();
		assertNothingIsLeft();
	}

	@Test
	void aFailedRenewalIsNotRepeatedAtOnceBecauseTheLeaseHasPassedOn() {
		DefaultLockEngine engine = handingOverFreely();
		LockHandle first = ((LockEngine.Granted) engine.acquire("stock", LockOptions.defaults())).handle();
		Waiting second = waitFor(engine, "stock", PATIENTLY);
		this.repository.always(Kind.RENEW, (request, store) -> {
			first.close();
			throw Fault.timeout().get();
		});
		this.world.clock().advance(LockWorld.LEASE.dividedBy(3).plusMillis(1));
		look(engine);
		assertThat(second.handle().isHeld()).isTrue();
		Awaitility.await()
			.during(Duration.ofMillis(200))
			.atMost(Duration.ofSeconds(60))
			.until(() -> this.repository.count(Kind.RENEW) == 1);
		second.handle().close();
	}

	@Test
	void isRefusedHereWithoutARequest() {
		LockHandle handle = take("stock");
		LockEngine.Attempt attempt = this.world.engine().acquire("stock", LockOptions.defaults());
		assertThat(attempt).isInstanceOfSatisfying(LockEngine.Refused.class, (refused) -> {
			LockRefusal refusal = refused.refusal();
			assertThat(refusal.holder()).isNotNull();
			assertThat(refusal.holder().acquirer()).isEqualTo("host-1:4711:k7");
			assertThat(refusal.holder().thread()).isEqualTo(Thread.currentThread().getName());
		});
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
		assertThat(this.repository.count(Kind.FIND)).isZero();
		handle.close();
	}

	@Test
	void asksOnceEvenIfTheWaitIsOverBeforeAndOnlyWhereAskingHelps() {
		DefaultLockEngine engine = new DefaultLockEngine(this.repository, slowPolls(), List.of());
		LockHandle handle = ((LockEngine.Granted) engine.acquire("stock", LockOptions.defaults())).handle();
		LockOptions briefly = LockOptions.defaults().waitUpTo(Duration.ofNanos(1));
		assertThat(engine.acquire("stock", briefly)).isInstanceOf(LockEngine.Refused.class);
		assertThat(this.repository.count(Kind.ACQUIRE)).isEqualTo(1);
		handle.close();
		LockEngine.Attempt attempt = engine.acquire("stock", briefly);
		assertThat(attempt).isInstanceOf(LockEngine.Granted.class);
		((LockEngine.Granted) attempt).handle().close();
		assertThat(engine.parts().queues().size()).isZero();
		engine.close();
	}

	@Test
	void waitersThatAreInterruptedOneAfterAnotherCostNoRequests() {
		this.world.seize("stock", LockWorld.LEASE);
		DefaultLockEngine engine = this.world.newEngine(slowPolls());
		List<Waiting> all = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			all.add(waitFor(engine, "stock", PATIENTLY));
		}
		LockWorld.eventually().until(() -> engine.state().attempts(WaitCause.FIRST) == 1);
		for (Waiting waiting : all) {
			waiting.interrupt();
			assertThat(waiting.failure()).isInstanceOf(LockInterruptedException.class);
		}
		assertThat(this.repository.count(Kind.ACQUIRE, "stock")).isEqualTo(2);
		assertThat(engine.parts().queues().size()).isZero();
	}

	@Test
	void waitersWhoseTimeIsUpSendOneRequestTogetherAndReportTheHolder() {
		LeaseKey other = this.world.seize("stock", LockWorld.LEASE);
		DefaultLockEngine engine = this.world.newEngine(slowPolls());
		List<Waiting> all = new ArrayList<>();
		for (int i = 0; i < 50; i++) {
			all.add(waitFor(engine, "stock", PATIENTLY.waitUpTo(Duration.ofSeconds(10))));
		}
		LockWorld.eventually().until(() -> engine.state().attempts(WaitCause.FIRST) == 1);
		this.world.clock().advance(Duration.ofSeconds(10));
		for (Waiting waiting : all) {
			assertThat(waiting.refusal().holder()).isNotNull();
			assertThat(waiting.refusal().holder().holder()).isEqualTo(other.holder());
		}
		assertThat(this.repository.count(Kind.ACQUIRE, "stock")).isEqualTo(3);
		assertThat(engine.parts().queues().size()).isZero();
	}

	private DefaultLockEngine handingOverFreely() {
		EngineSettings settings = LockWorld.settings("");
		return this.world.newEngine(new EngineSettings("", settings.acquirer(), settings.defaults(), settings.timeout(),
				settings.poll(), new EngineSettings.HandOff(5000, Duration.ofHours(1))));
	}

	private static EngineSettings slowPolls() {
		EngineSettings settings = LockWorld.settings("");
		return new EngineSettings("", settings.acquirer(), settings.defaults(), settings.timeout(),
				new EngineSettings.Poll(Duration.ofMinutes(1), Duration.ofMinutes(2)), settings.handOff());
	}

	private static void look(DefaultLockEngine engine) {
		LockEngine.Attempt nudge = engine.acquire(InMemoryLockRepository.UNSEEN, LockOptions.defaults());
		LockHandle handle = ((LockEngine.Granted) nudge).handle();
		handle.startRenewal();
		handle.close();
	}

	private void assertNothingIsLeft() {
		LockWorld.eventually().until(() -> this.world.engine().parts().queues().size() == 0);
	}

	private LockHandle take(String name) {
		return take(name, LockOptions.defaults());
	}

	private LockHandle take(String name, LockOptions options) {
		if (this.world.engine().acquire(name, options) instanceof LockEngine.Granted grant) {
			return grant.handle();
		}
		return fail("The lock is not free");
	}

	private Waiting waitFor(String name, LockOptions options) {
		return waitFor(this.world.engine(), name, options);
	}

	private Waiting waitFor(DefaultLockEngine engine, String name, LockOptions options) {
		int before = waiters(engine, name);
		Waiting waiting = start(engine, name, options);
		LockWorld.eventually().until(() -> waiters(engine, name) > before);
		return waiting;
	}

	private static int waiters(DefaultLockEngine engine, String name) {
		LocalQueue queue = engine.parts().queues().find(name);
		return (queue != null) ? queue.waiters() : 0;
	}

	private Waiting start(String name, LockOptions options) {
		return start(this.world.engine(), name, options);
	}

	private Waiting start(DefaultLockEngine engine, String name, LockOptions options) {
		Waiting waiting = new Waiting(engine, name, options);
		this.threads.add(waiting.thread);
		waiting.thread.start();
		return waiting;
	}

	private static final class Waiting {

		private final CompletableFuture<LockEngine.Attempt> attempt = new CompletableFuture<>();

		private final Thread thread;

		Waiting(DefaultLockEngine engine, String name, LockOptions options) {
			this.thread = new Thread(() -> {
				try {
					this.attempt.complete(engine.acquire(name, options));
				}
				catch (Throwable ex) {
					this.attempt.completeExceptionally(ex);
				}
			}, "waiter");
		}

		boolean isDone() {
			return this.attempt.isDone();
		}

		void interrupt() {
			this.thread.interrupt();
		}

		LockHandle handle() {
			LockWorld.eventually().until(this.attempt::isDone);
			return ((LockEngine.Granted) this.attempt.join()).handle();
		}

		LockRefusal refusal() {
			LockWorld.eventually().until(this.attempt::isDone);
			return ((LockEngine.Refused) this.attempt.join()).refusal();
		}

		Throwable failure() {
			AtomicReference<Throwable> failure = new AtomicReference<>();
			LockWorld.eventually().until(this.attempt::isDone);
			CompletableFuture<Object> unused = this.attempt.handle((result, ex) -> {
				failure.set(ex);
				return null;
			});
			return failure.get();
		}

	}

}
