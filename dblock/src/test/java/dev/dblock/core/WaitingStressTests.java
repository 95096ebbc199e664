package dev.dblock.core;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.IntConsumer;

import dev.dblock.LockHandle;
import dev.dblock.LockInterruptedException;
import dev.dblock.LockOptions;
import dev.dblock.core.Request.Kind;
import dev.dblock.core.queue.LocalQueue;
import dev.dblock.core.queue.PollPause.WaitCause;
import dev.dblock.core.queue.Waiter;
import dev.dblock.engine.LockEngine;
import dev.dblock.settings.EngineSettings;
import dev.dblock.store.LockRepository;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many threads, one name. Every section looks for a second thread inside, and for a token
 * that is not the highest.
 */
@Timeout(300)
class WaitingStressTests {

	private static final String NAME = "stock";

	private static final Duration NEVER = Duration.ofHours(1);

	private static final EngineSettings.Poll HARDLY_EVER = new EngineSettings.Poll(NEVER, NEVER);

	private static final int SMALL_STACK = 256 * 1024;

	private static final LockOptions PATIENTLY = LockOptions.defaults().waitUpTo(Duration.ofMinutes(10));

	private final InMemoryLockRepository repository = new InMemoryLockRepository(System::currentTimeMillis);

	private final List<DefaultLockEngine> engines = new ArrayList<>();

	private final AtomicInteger inside = new AtomicInteger();

	private final List<Long> tokens = Collections.synchronizedList(new ArrayList<>());

	private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());

	@AfterEach
	void tearDown() {
		this.engines.forEach(DefaultLockEngine::close);
	}

	@Test
	void sixtyFourThreadsTakeTurns() throws Exception {
		DefaultLockEngine engine = engine(this.repository, HARDLY_EVER,
				new EngineSettings.HandOff(10_000, Duration.ofSeconds(10)));
		int rounds = 1000;
		LockHandle first = take(engine);
		List<CompletableFuture<Void>> all = startAll(64, (thread) -> {
			for (int i = 0; i < rounds; i++) {
				section(engine, PATIENTLY);
			}
		});
		// A thread that has no others behind it yet sends a request for each of its
		// sections
		eventually().until(() -> waiters(engine) == 64);
		first.close();
		await(all);
		assertThatAllWentWell(64 * rounds);
		assertThat(this.repository.count(Kind.ACQUIRE)).isLessThan(64 * rounds / 50);
		assertThatNothingElseWoke(engine);
		assertThatNothingIsLeft(engine);
	}

	/**
	 * Each release takes until the head has looked again and waits for nothing but its
	 * end, however long that takes.
	 */
	@Test
	void theEndOfEachReleaseWakesTheHead() throws Exception {
		DefaultLockEngine engine = engine(this.repository, HARDLY_EVER,
				new EngineSettings.HandOff(0, Duration.ofSeconds(10)));
		LockWorld.awaitReleases(engine);
		this.repository.always(Kind.RELEASE, Fault.before(() -> eventually().until(() -> hasHeadLooked(engine))));
		runAll(4, (thread) -> {
			for (int i = 0; i < 500; i++) {
				section(engine, PATIENTLY);
			}
		});
		assertThatAllWentWell(4 * 500);
		assertThatNothingElseWoke(engine);
		assertThatNothingIsLeft(engine);
	}

	private static boolean hasHeadLooked(DefaultLockEngine engine) {
		LocalQueue queue = Objects.requireNonNull(engine.parts().queues().find(NAME));
		synchronized (queue) {
			Waiter head = ReflectionTestUtils.invokeMethod(queue, "head");
			return head == null || LockSupport.getBlocker(head.thread()) == head;
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 7, 1000 })
	void threeProcessesTakeTurns(int handOffs) throws Exception {
		NotifyingRepository telling = new NotifyingRepository(this.repository);
		List<DefaultLockEngine> engines = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			engines.add(engine(telling.ofAnotherProcess(), HARDLY_EVER,
					new EngineSettings.HandOff(handOffs, Duration.ofMillis(20))));
		}
		runAll(24, (thread) -> {
			for (int i = 0; i < 1000; i++) {
				section(engines.get(thread % 3), PATIENTLY);
			}
		});
		assertThatAllWentWell(24 * 1000);
		engines.forEach(this::assertThatNothingIsLeft);
		engines.forEach(this::assertThatNothingElseWoke);
		int leastReleases = (24 * 1000 + handOffs) / (handOffs + 1);
		assertThat(this.repository.count(Kind.RELEASE)).isGreaterThanOrEqualTo(leastReleases);
	}

	@Test
	void theFirstThatCameIsTheFirstServed() throws Exception {
		DefaultLockEngine engine = engine(new EngineSettings.HandOff(10, Duration.ofSeconds(10)));
		LockHandle held = take(engine);
		List<Integer> order = Collections.synchronizedList(new ArrayList<>());
		List<CompletableFuture<Void>> all = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			int number = i;
			all.add(start(() -> {
				try (LockHandle handle = ((LockEngine.Granted) engine.acquire(NAME, PATIENTLY)).handle()) {
					assertThat(handle.isHeld()).isTrue();
					order.add(number);
				}
			}));
			eventually().until(() -> waiters(engine) == number + 1);
		}
		held.close();
		for (CompletableFuture<Void> each : all) {
			each.get();
		}
		assertThat(order).isSorted().hasSize(100);
		assertThatNothingIsLeft(engine);
	}

	@Test
	void waitsOfAllLengthsEndInTheMiddleOfHandOvers() throws Exception {
		DefaultLockEngine engine = engine(new EngineSettings.HandOff(100, Duration.ofMillis(20)));
		AtomicInteger granted = new AtomicInteger();
		runAll(48, (thread) -> {
			ThreadLocalRandom random = ThreadLocalRandom.current();
			for (int i = 0; i < 3000; i++) {
				Duration wait = switch (random.nextInt(4)) {
					case 0 -> Duration.ZERO;
					case 1 -> Duration.ofNanos(random.nextInt(100_000));
					case 2 -> Duration.ofMillis(1);
					default -> Duration.ofNanos(random.nextInt(20_000_000));
				};
				if (section(engine, LockOptions.defaults().waitUpTo(wait))) {
					granted.incrementAndGet();
				}
			}
		});
		assertThatAllWentWell(granted.get());
		assertThatNothingIsLeft(engine);
	}

	@Test
	void waitersAreInterruptedInBulkInTheMiddleOfHandOvers() throws Exception {
		DefaultLockEngine engine = engine(new EngineSettings.HandOff(1000, Duration.ofMillis(50)));
		AtomicInteger granted = new AtomicInteger();
		AtomicInteger interrupted = new AtomicInteger();
		CountDownLatch over = new CountDownLatch(1);
		List<Thread> threads = new ArrayList<>();
		for (int i = 0; i < 48; i++) {
			Thread thread = new Thread(() -> guarded(() -> {
				while (over.getCount() > 0) {
					try {
						if (section(engine, PATIENTLY)) {
							granted.incrementAndGet();
						}
					}
					catch (LockInterruptedException ex) {
						assertThat(Thread.interrupted()).isTrue();
						interrupted.incrementAndGet();
					}
				}
			}), "worker-" + i);
			threads.add(thread);
			thread.start();
		}
		for (int round = 1; round <= 300; round++) {
			int enough = granted.get() + 50;
			threads.forEach(Thread::interrupt);
			eventually().until(() -> granted.get() >= enough || !this.failures.isEmpty());
		}
		over.countDown();
		for (Thread thread : threads) {
			thread.join();
		}
		assertThat(interrupted.get()).isGreaterThan(100);
		assertThatAllWentWell(granted.get());
		assertThatNothingIsLeft(engine);
	}

	@Test
	void namesThatAreUsedOnceLeaveNothingBehind() throws Exception {
		DefaultLockEngine engine = engine(new EngineSettings.HandOff(1000, Duration.ofMillis(50)));
		runAll(8, (thread) -> {
			for (int i = 0; i < 2000; i++) {
				try (LockHandle handle = ((LockEngine.Granted) engine.acquire("unseen-" + thread + "-" + i, PATIENTLY))
					.handle()) {
					assertThat(handle.isHeld()).isTrue();
				}
			}
		});
		assertThatNothingIsLeft(engine);
	}

	@Test
	void thousandsOfThreadsTakeTurns() throws Exception {
		DefaultLockEngine engine = engine(new EngineSettings.HandOff(10_000, Duration.ofMillis(100)));
		takeTurns(engine, 2000, this::startSmall);
		assertThatAllWentWell(2000);
		assertThatNothingIsLeft(engine);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void waitersForThisProcessOrAnotherAreParkedInNoMonitor(boolean thisProcess) throws Exception {
		NotifyingRepository telling = new NotifyingRepository(this.repository);
		EngineSettings.HandOff handOff = new EngineSettings.HandOff(10_000, Duration.ofSeconds(10));
		DefaultLockEngine engine = engine(telling.ofAnotherProcess(), HARDLY_EVER, handOff);
		LockHandle held = take(thisProcess ? engine : engine(telling.ofAnotherProcess(), HARDLY_EVER, handOff));
		List<Thread> threads = Collections.synchronizedList(new ArrayList<>());
		List<CompletableFuture<Void>> all = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			all.add(start(() -> {
				threads.add(Thread.currentThread());
				section(engine, PATIENTLY);
			}));
		}
		eventually().until(() -> waiters(engine) == 5);
		assertThat(Monitors.heldWhileWaiting(threads)).isEmpty();
		held.close();
		for (CompletableFuture<Void> each : all) {
			each.get(4, TimeUnit.MINUTES);
		}
		assertThatAllWentWell(5);
		assertThatNothingIsLeft(engine);
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_25)
	void thousandsOfVirtualThreadsTakeTurnsAndPinNothing() throws Exception {
		DefaultLockEngine engine = engine(new EngineSettings.HandOff(10_000, Duration.ofMillis(100)));
		// Initialisation at the first use pins the threads that wait for it
		startVirtual(() -> section(engine, PATIENTLY)).get();
		this.tokens.clear();
		try (Recording recording = new Recording()) {
			recording.enable("jdk.VirtualThreadPinned").withThreshold(Duration.ZERO);
			recording.start();
			takeTurns(engine, 5000, this::startVirtual);
			recording.stop();
			java.nio.file.Path file = java.nio.file.Files.createTempFile("pinned", ".jfr");
			recording.dump(file);
			assertThat(RecordingFile.readAllEvents(file)).isEmpty();
			java.nio.file.Files.delete(file);
		}
		assertThatAllWentWell(5000);
		assertThatNothingIsLeft(engine);
	}

	/**
	 * Let many threads wait for the lock at the same time, and then get it.
	 */
	private void takeTurns(DefaultLockEngine engine, int threads, Function<Runnable, CompletableFuture<Void>> start)
			throws Exception {
		LockHandle held = take(engine);
		List<CompletableFuture<Void>> all = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			all.add(start.apply(() -> section(engine, PATIENTLY)));
		}
		eventually().until(() -> waiters(engine) == threads);
		held.close();
		for (CompletableFuture<Void> each : all) {
			each.get(4, TimeUnit.MINUTES);
		}
	}

	private boolean section(DefaultLockEngine engine, LockOptions options) {
		LockEngine.Attempt attempt = engine.acquire(NAME, options);
		if (!(attempt instanceof LockEngine.Granted grant)) {
			return false;
		}
		try (LockHandle handle = grant.handle()) {
			assertThat(this.inside.incrementAndGet()).as("threads inside").isEqualTo(1);
			this.tokens.add(handle.token());
			handle.ensureHeld();
			assertThat(this.inside.decrementAndGet()).as("threads left inside").isZero();
		}
		return true;
	}

	private void assertThatAllWentWell(int sections) {
		assertThat(this.failures).isEmpty();
		assertThat(this.tokens).hasSize(sections);
		for (int i = 1; i < sections; i++) {
			assertThat(this.tokens.get(i)).isGreaterThan(this.tokens.get(i - 1));
		}
	}

	private void assertThatNothingIsLeft(DefaultLockEngine engine) {
		eventually().until(() -> engine.parts().queues().size() == 0);
		assertThat(engine.parts().signals().waiters()).isZero();
		assertThat(this.repository.isHeld(NAME)).isFalse();
	}

	private void assertThatNothingElseWoke(DefaultLockEngine engine) {
		for (WaitCause cause : List.of(WaitCause.EXPIRY, WaitCause.POLL, WaitCause.SLOW_POLL)) {
			assertThat(engine.state().attempts(cause)).as(cause.name()).isZero();
		}
	}

	private static int waiters(DefaultLockEngine engine) {
		LocalQueue queue = engine.parts().queues().find(NAME);
		return (queue != null) ? queue.waiters() : 0;
	}

	private static LockHandle take(DefaultLockEngine engine) {
		return ((LockEngine.Granted) engine.acquire(NAME, LockOptions.defaults())).handle();
	}

	private void guarded(Runnable work) {
		try {
			work.run();
		}
		catch (Throwable ex) {
			this.failures.add(ex);
		}
	}

	private void runAll(int threads, IntConsumer work) throws Exception {
		await(startAll(threads, work));
	}

	private List<CompletableFuture<Void>> startAll(int threads, IntConsumer work) {
		List<CompletableFuture<Void>> all = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			int number = i;
			all.add(start(() -> work.accept(number)));
		}
		return all;
	}

	private static void await(List<CompletableFuture<Void>> all) throws Exception {
		for (CompletableFuture<Void> each : all) {
			each.get(4, TimeUnit.MINUTES);
		}
	}

	private CompletableFuture<Void> start(Runnable work) {
		CompletableFuture<Void> done = new CompletableFuture<>();
		new Thread(toComplete(done, work)).start();
		return done;
	}

	private CompletableFuture<Void> startSmall(Runnable work) {
		CompletableFuture<Void> done = new CompletableFuture<>();
		new Thread(null, toComplete(done, work), "small", SMALL_STACK).start();
		return done;
	}

	/**
	 * The tests compile for a release that has no virtual threads.
	 */
	private CompletableFuture<Void> startVirtual(Runnable work) {
		CompletableFuture<Void> done = new CompletableFuture<>();
		try {
			Method start = Thread.class.getMethod("startVirtualThread", Runnable.class);
			assertThat(start.invoke(null, toComplete(done, work))).isInstanceOf(Thread.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new AssertionError(ex);
		}
		return done;
	}

	private static Runnable toComplete(CompletableFuture<Void> done, Runnable work) {
		return () -> {
			try {
				work.run();
				done.complete(null);
			}
			catch (Throwable ex) {
				done.completeExceptionally(ex);
			}
		};
	}

	private DefaultLockEngine engine(EngineSettings.HandOff handOff) {
		return engine(this.repository, new EngineSettings.Poll(Duration.ofMillis(1), Duration.ofMillis(5)), handOff);
	}

	private DefaultLockEngine engine(LockRepository store, EngineSettings.Poll poll, EngineSettings.HandOff handOff) {
		EngineSettings settings = LockWorld.settings("");
		DefaultLockEngine engine = new DefaultLockEngine(store,
				new EngineSettings("", settings.acquirer(), settings.defaults(), settings.timeout(), poll, handOff),
				List.of());
		this.engines.add(engine);
		return engine;
	}

	private static ConditionFactory eventually() {
		return Awaitility.await().atMost(Duration.ofMinutes(4)).pollInterval(Duration.ofMillis(1));
	}

}
