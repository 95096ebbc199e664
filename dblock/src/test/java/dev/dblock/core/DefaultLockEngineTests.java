package dev.dblock.core;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockShutdownException;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.lease.Lease;
import dev.dblock.engine.HeldLock;
import dev.dblock.engine.LockEngine;
import dev.dblock.event.LockListener;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.reactive.LockedCoroutine;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.settings.EngineSettings;
import kotlinx.coroutines.CompletableJob;
import kotlinx.coroutines.JobKt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNoException;

@Timeout(300)
@ExtendWith(OutputCaptureExtension.class)
class DefaultLockEngineTests {

	private static final Duration THIRD = Duration.ofSeconds(10);

	private final Set<Thread> threadsBefore = threads();

	@RegisterExtension
	private final LockWorld world = new LockWorld();

	private final InMemoryLockRepository repository = this.world.repository();

	private static Set<Thread> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("dblock-"))
			.collect(Collectors.toSet());
	}

	private Set<Thread> newThreads() {
		Set<Thread> threads = threads();
		threads.removeAll(this.threadsBefore);
		return threads;
	}

	@Test
	void lockThatIsAboutToBeReleasedIsNotReportedAsInUseAtShutdown() {
		DefaultLockEngine engine = this.world.engine();
		LockHandle handle = this.world.acquire("a");
		LockHandle used = this.world.acquire("b");
		((HeldLock) handle).aboutToRelease();
		CompletableFuture<Void> closing = CompletableFuture.runAsync(this.world::closePatiently);
		LockWorld.eventually().until(() -> refusesAll(engine));
		assertThat(handle.release()).isTrue();
		this.world.clock().resumeLimits();
		assertThat(closing).succeedsWithin(Duration.ofSeconds(60));
		assertThat(this.world.anotherProcess().tryAcquire("a")).isPresent();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(used::ensureHeld)
			.satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.SHUTDOWN));
	}

	@Test
	void coroutineThatWorksAfterItsCancellationIsNotAboutToRelease() {
		CompletableJob job = JobKt.Job(null);
		AtomicReference<Lease> lease = new AtomicReference<>();
		AtomicReference<Thread> beginner = new AtomicReference<>();
		Disposable subscription = ReactiveLockTemplate.of(this.world.template())
			.execute("a", LockOptions.defaults(), () -> {
				lease.set(((LeaseHandle) LockContext.current().orElseThrow()).lease());
				beginner.set(Thread.currentThread());
				return new LockedCoroutine(job).sequence(Mono.never());
			}, (refusal) -> Mono.error(refusal.toException()))
			.subscribe();
		LockWorld.eventually().until(() -> beginner.get() != null && !beginner.get().isAlive());
		subscription.dispose();
		assertThat(lease.get().state().isAboutToEnd()).isFalse();
		job.complete();
		LockWorld.eventually().until(() -> lease.get().end() == LossReason.RELEASED);
	}

	private static boolean refusesAll(DefaultLockEngine engine) {
		try {
			engine.acquire("other", LockOptions.defaults());
			return false;
		}
		catch (LockShutdownException ex) {
			return true;
		}
	}

	@Test
	void hangingRenewalsOfLongLeasesDoNotKeepAShortOneFromBeingRenewed() throws Exception {
		Gate gate = new Gate();
		this.repository.always((request) -> request.kind() == Kind.RENEW && !request.isAbout("short"),
				Fault.heldUp(gate));
		List<LockHandle> held = new ArrayList<>();
		Duration lease = Duration.ofDays(1);
		for (int i = 0; i < 12; i++) {
			held.add(this.world.acquire("long-" + i, LockOptions.lease(lease)));
			// The next one is half as long, and due at the same time
			this.world.clock().advance(lease.dividedBy(6));
			lease = lease.dividedBy(2);
		}
		this.world.advance(lease.dividedBy(3));
		LockWorld.eventually().until(() -> this.repository.count(Kind.RENEW) == held.size());
		held.add(this.world.acquire("short", LockOptions.lease(Duration.ofSeconds(1))));
		this.world.advance(Duration.ofMillis(400));
		LockWorld.eventually().until(() -> this.repository.count(Kind.RENEW, "short") == 1);
		gate.open();
		held.forEach(LockHandle::close);
	}

	@Test
	void leasesOfAnyLengthFindAThreadForTheirRenewal() {
		assertThat(LeaseWatchdog.MOST_GROUPS).isEqualTo(27);
	}

	@Test
	void startsNoThreadBeforeTheFirstLockIsTaken() {
		this.world.engine().administration().list(true, "", 10);
		this.world.engine().check("stock", LockOptions.defaults());
		assertThat(newThreads()).isEmpty();
		this.world.acquire("a");
		assertThat(newThreads()).isNotEmpty().allMatch(Thread::isDaemon);
	}

	@Test
	void leavesNoThreadBehind() {
		LockHandle robbed = this.world.acquire("a");
		this.world.rob("a");
		this.world.advance(THIRD);
		LockWorld.eventually().until(() -> this.world.news().contains("lost a TAKEN_OVER"));
		Reference.reachabilityFence(robbed);
		this.world.acquire("b").close();
		this.world.acquire("c");
		this.world.engine().close();
		LockWorld.eventually().until(() -> newThreads().isEmpty());
	}

	@Test
	void reportsHeldLocksAsLostAtShutdownAndDoesNotReleaseThem() {
		LockHandle handle = this.world.acquire("a");
		this.world.engine().close();
		assertThat(this.world.news()).as("reported before the engine is closed")
			.containsExactly("acquired a", "lost a SHUTDOWN");
		assertThat(handle.isHeld()).isFalse();
		assertThat(this.repository.isHeld("a")).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::close)
			.satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.SHUTDOWN));
		assertThat(this.repository.isHeld("a")).as("the lease ends it").isTrue();
	}

	@Test
	void logsOneLineForAllLocksThatAreHeldAtShutdown(CapturedOutput output) {
		List<LockHandle> held = IntStream.range(0, 30).mapToObj((i) -> this.world.acquire("held-" + i)).toList();
		this.world.acquire("released").close();
		this.world.engine().close();
		assertThat(held).noneMatch(LockHandle::isHeld);
		assertThat(this.world.news()).filteredOn((news) -> news.startsWith("lost held-")).hasSize(30);
		List<String> lines = output.getAll().lines().filter((line) -> line.contains("'held-")).toList();
		assertThat(lines).singleElement()
			.asString()
			.contains("WARN", "still holds 30 of its locks: 'held-", "(fencing token ", "), ...", "no longer renewed",
					"becomes free when its lease ends", "await-termination");
		assertThat(lines.get(0).split("'held-")).as("names, and what is before the first").hasSize(21);
		assertThat(output).doesNotContain("'released'");
	}

	@Test
	void logsNothingAtShutdownWhenNoLockIsHeld(CapturedOutput output) {
		this.world.acquire("a").close();
		this.world.engine().close();
		assertThat(output).doesNotContain("The application is closing");
	}

	@Test
	void leavesALockWhoseHandleIsUnreachableToItsLease() {
		Lease lease = acquireAndForget("a");
		LockWorld.eventually().until(() -> {
			System.gc();
			return lease.handle() == null;
		});
		this.world.engine().close();
		assertThat(this.repository.count(Kind.RELEASE, "a")).isZero();
		assertThat(this.repository.isHeld("a")).isTrue();
	}

	@Test
	void releasesALockWhoseWorkEndsWhileItCloses(CapturedOutput output) {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""), new LockListener() {

			@Override
			public void onLost(LockHandle lost, LossReason reason) {
				assertThat(lost.release()).isFalse();
			}

		});
		LockHandle handle = ((LockEngine.Granted) engine.acquire("a", LockOptions.defaults())).handle();
		engine.close();
		assertThat(handle.isHeld()).isFalse();
		assertThat(this.repository.isHeld("a")).isFalse();
		assertThat(output).contains("A lock is released if its work ends before the application has closed")
			.doesNotContain("They are not released");
	}

	private Lease acquireAndForget(String name) {
		return ((LeaseHandle) this.world.acquire(name)).lease();
	}

	@Test
	void waitsForAReleaseThatIsUnderWayAtShutdown() throws Exception {
		Gate gate = new Gate();
		LockHandle handle = this.world.acquire("a");
		this.repository.next(Kind.RELEASE, Fault.heldUp(gate));
		Worker<Boolean> release = Worker.start(handle::release);
		gate.awaitReached();
		Worker<Boolean> closing = this.world.startClosing("a");
		gate.open();
		assertThat(closing.result()).as("free when the engine is closed").isTrue();
		assertThat(release.result()).isTrue();
	}

	@Test
	void workThatEndsRightAfterItsExecutorIsReleasedAtShutdown() throws Exception {
		Gate gate = new Gate();
		Worker<Boolean> work = Worker.start(() -> {
			LockHandle handle = this.world.acquire("a");
			gate.pass();
			return handle.release();
		});
		gate.awaitReached();
		Worker<Boolean> closing = this.world.startClosing("a");
		gate.open();
		assertThat(closing.result()).as("free when the engine is closed").isTrue();
		assertThat(work.result()).isTrue();
		assertThat(this.world.news()).containsExactly("acquired a", "released a");
	}

	@Test
	void doesNotWaitForAStoreThatHangsWhenItsShutdownIsInterrupted() throws Exception {
		Gate gate = new Gate();
		LockHandle handle = this.world.acquire("a");
		this.repository.next(Kind.RELEASE, Fault.heldUp(gate));
		Worker<Boolean> release = Worker.start(handle::release);
		gate.awaitReached();
		Worker<Boolean> closing = this.world.startClosing("a");
		closing.interrupt();
		assertThat(closing.result()).as("free when the engine is closed").isFalse();
		assertThat(closing.isInterruptedAfterwards()).isTrue();
		assertThat(release.isDone()).isFalse();
		gate.open();
		assertThat(release.result()).isTrue();
	}

	@Test
	void interruptsHoldersThatAskedForItAtShutdown() {
		LockHandle handle = this.world.acquire("a", LockOptions.defaults().whenLost(WhenLost.INTERRUPT));
		this.world.engine().close();
		assertThat(Thread.interrupted()).isTrue();
		assertThat(handle.release()).isFalse();
	}

	@Test
	void canBeClosedTwice() {
		LockHandle handle = this.world.acquire("a");
		this.world.engine().close();
		this.world.engine().close();
		assertThat(handle.isHeld()).isFalse();
		assertThat(this.world.news()).containsExactly("acquired a", "lost a SHUTDOWN");
	}

	@Test
	void interruptsRenewalsThatAreUnderWayAtShutdown() throws Exception {
		Gate gate = new Gate();
		LockHandle handle = this.world.acquire("a");
		this.repository.next(Kind.RENEW, Fault.heldUp(gate));
		this.world.advance(THIRD);
		gate.awaitReached();
		this.world.engine().close();
		gate.awaitInterrupted();
		assertThat(handle.isHeld()).isFalse();
		LockWorld.eventually().until(() -> newThreads().isEmpty());
	}

	@Test
	void letsReleasesThatAreUnderWayFinishAtShutdown() throws Exception {
		Gate gate = new Gate();
		LockHandle handle = this.world.acquireUnrenewed("a");
		this.world.clock().advance(LockWorld.LEASE);
		this.repository.next(Kind.RELEASE, Fault.heldUp(gate));
		assertThat(handle.release()).isFalse();
		gate.awaitReached();
		Worker<Boolean> closing = this.world.startClosing("a");
		gate.open();
		assertThat(closing.result()).as("free when the engine is closed").isTrue();
	}

	@Test
	void doesNotWaitForAListenerThatHangsWhenItsShutdownIsInterrupted() throws Exception {
		Gate gate = new Gate();
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""), new LockListener() {

			@Override
			public void onLost(LockHandle handle, LossReason reason) {
				gate.pass();
			}

		});
		LockEngine.Attempt attempt = engine.acquire("a", LockOptions.defaults());
		Worker<Boolean> closing = Worker.start(() -> {
			engine.close();
			return true;
		});
		gate.awaitReached();
		Reference.reachabilityFence(attempt);
		closing.interrupt();
		assertThat(closing.result()).isTrue();
		assertThat(closing.isInterruptedAfterwards()).isTrue();
		gate.awaitInterrupted();
		LockWorld.eventually().until(() -> newThreads().isEmpty());
	}

	@Test
	void renewsWhatIsHeldWhileWaitersAreRefused() {
		LockHandle handle = this.world.acquire("a");
		this.world.engine().refuseWaiters();
		this.world.advance(THIRD);
		LockWorld.eventually().until(() -> handle.remaining().equals(LockWorld.LEASE));
		assertThat(handle.release()).isTrue();
	}

	@Test
	void notifiesListenersOfALossAfterShutdownInTheThreadThatNoticesIt() {
		LockHandle handle = this.world.acquire("a");
		LeaseRegistry registry = new LeaseRegistry((ended) -> {
		});
		RecordingListener listener = new RecordingListener();
		Executor closed = (task) -> {
			throw new RejectedExecutionException("closed");
		};
		LeaseLosses losses = new LeaseLosses(registry, listener, closed, closed);
		losses.lose(((LeaseHandle) handle).lease(), LossReason.SHUTDOWN, "scripted");
		assertThat(listener.news()).containsExactly("lost a SHUTDOWN");
	}

	@Test
	void noLockIsHeldAfterAShutdownThatCrossesItsGrant() throws Exception {
		for (int round = 0; round < 200; round++) {
			DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""));
			String name = "raced-" + round;
			CyclicBarrier start = new CyclicBarrier(2);
			Worker<LockEngine.Attempt> worker = Worker.start(() -> {
				start.await();
				try {
					return engine.acquire(name, LockOptions.defaults());
				}
				catch (LockShutdownException ex) {
					return null;
				}
			});
			start.await();
			engine.close();
			LockEngine.Attempt attempt = worker.result();
			if (attempt instanceof LockEngine.Granted grant) {
				assertThat(grant.handle().isHeld()).isFalse();
			}
			else {
				assertThat(attempt).isNull();
				assertThat(this.repository.isHeld(name)).isFalse();
			}
		}
	}

	@Test
	void prefixesEveryName() {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings("shop:"));
		assertThat(engine.fullName("a")).isEqualTo("shop:a");
		LockHandle handle = ((LockEngine.Granted) engine.acquire("a", LockOptions.defaults())).handle();
		assertThat(handle.name()).isEqualTo("shop:a");
		LockHandle unprefixed = this.world.acquire("a");
		assertThat(engine.administration().list(true, "", 10).locks()).extracting(LockInfo::name)
			.containsExactly("shop:a");
		assertThat(new DefaultLockTemplate(engine).forAll(Map.of("b", LockOptions.defaults())).inspect("a"))
			.hasValueSatisfying((lock) -> assertThat(lock.name()).isEqualTo("shop:a"));
		assertThat(this.world.engine().administration().list(true, "", 10).locks()).hasSize(2);
		assertThat(engine.administration().find(engine.fullName("a")))
			.hasValueSatisfying((lock) -> assertThat(lock.name()).isEqualTo("shop:a"));
		assertThat(engine.administration().forceRelease(engine.fullName("a"))).isTrue();
		assertThat(engine.administration().forceReleaseNow(engine.fullName("a"))).isTrue();
		assertThat(this.repository.isHeld("a")).isTrue();
		assertThat(unprefixed.isHeld()).isTrue();
	}

	@Test
	void refusesInvalidDefaults() {
		EngineSettings settings = LockWorld.settings(LockWorld.DEFAULTS.withLease(Duration.ofMillis(1)),
				LockWorld.TIMEOUT, LockWorld.POLL);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new DefaultLockEngine(this.repository, settings, List.of()))
			.withMessageContaining("lease");
	}

	@Test
	void checksOptionsWithoutARequest() {
		assertThatNoException().isThrownBy(() -> this.world.engine().check("stock", LockOptions.defaults()));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.world.engine().check("stock", LockOptions.lease(Duration.ofMillis(1))));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.world.engine().acquire("a", LockOptions.lease(Duration.ofMillis(1))));
		assertThat(this.repository.count(Kind.ACQUIRE)).isZero();
	}

	@Test
	void worksOnTheClocksOfTheMachine() {
		DefaultLockEngine engine = new DefaultLockEngine(this.repository, LockWorld.settings(""), List.of());
		LockHandle handle = ((LockEngine.Granted) engine.acquire("a", LockOptions.lease(Duration.ofSeconds(15))))
			.handle();
		LockWorld.eventually().until(() -> this.repository.count(Kind.RENEW, "a") >= 1);
		assertThat(handle.isHeld()).isTrue();
		assertThat(handle.release()).isTrue();
		engine.close();
	}

}
