package dev.dblock.core;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockHandles;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.event.LockListener;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.reactive.ReactiveLockTemplate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import reactor.core.publisher.Mono;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Notification of losses while other things fail or take long.
 */
@Timeout(120)
class LeaseLossesTests {

	private static final List<String> NAMES = IntStream.range(0, 6).mapToObj((i) -> "lock-" + i).toList();

	private final LockWorld world = new LockWorld();

	private final CountDownLatch end = new CountDownLatch(1);

	private final BlockedListener blocked = new BlockedListener();

	/** Referred to, so that they are not forgotten. */
	private final List<LockHandle> handles = new ArrayList<>();

	@AfterEach
	void close() {
		this.end.countDown();
		this.world.close();
	}

	@Test
	void aLossIsReportedThoughNoThreadCanBeStartedForIt() {
		LockHandle handle = this.world.template().acquire("a");
		AtomicInteger notified = new AtomicInteger();
		handle.onLost((reason) -> notified.incrementAndGet());
		LeaseRegistry registry = new LeaseRegistry((ended) -> {
		});
		RecordingListener listener = new RecordingListener();
		LeaseLosses losses = new LeaseLosses(registry, new LockListeners(List.of(listener), LeaseLossesTests::noThread),
				LeaseLossesTests::noThread, LeaseLossesTests::noThread);
		losses.lose(((LeaseHandle) handle).lease(), LossReason.EXPIRED, "scripted");
		assertThat(notified).hasValue(1);
		assertThat(listener.news()).containsExactly("lost a EXPIRED");
	}

	private static void noThread(Runnable task) {
		throw new OutOfMemoryError("unable to create native thread (scripted)");
	}

	@Test
	void futuresCompleteWhileAListenerBlocks() throws Exception {
		DefaultLockTemplate template = template(this.blocked);
		List<CompletableFuture<String>> futures = NAMES.stream().map((name) -> begin(template, name)).toList();
		lose();
		for (CompletableFuture<String> future : futures) {
			assertLost(future);
		}
		this.blocked.awaitCallsFor(NAMES);
	}

	@Test
	void callbacksAreCountedUntilTheyReturn() {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""), this.blocked);
		for (String name : NAMES) {
			this.handles.add(new DefaultLockTemplate(engine).acquire(name));
		}
		assertThat(engine.state().callbacks()).isZero();
		lose();
		this.blocked.awaitCallsFor(NAMES);
		LockWorld.eventually().until(() -> engine.state().callbacks() == NAMES.size());
		this.end.countDown();
		LockWorld.eventually().until(() -> engine.state().callbacks() == 0);
	}

	@Test
	void futuresCompleteWhileCallbacksBlock() throws Exception {
		DefaultLockTemplate template = template();
		List<CompletableFuture<String>> futures = new ArrayList<>();
		CountDownLatch called = new CountDownLatch(2 * NAMES.size());
		for (String name : NAMES) {
			futures.add(template.<String>executeAsync(name, LockOptions.defaults(), () -> {
				for (int i = 0; i < 2; i++) {
					LockContext.current().orElseThrow().onLost((reason) -> {
						called.countDown();
						awaitEnd();
					});
				}
				return new CompletableFuture<>();
			}, LeaseLossesTests::refused).toCompletableFuture());
		}
		lose();
		for (CompletableFuture<String> future : futures) {
			assertLost(future);
		}
		assertThat(called.await(60, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void aListenerThatBlocksDelaysNoOtherListener() {
		RecordingListener second = new RecordingListener();
		this.handles.add(template(this.blocked, second).acquire("a"));
		lose();
		LockWorld.eventually().until(() -> second.news().contains("lost a EXPIRED"));
	}

	@Test
	void aLateRenewalIsReportedWhileAListenerBlocks() {
		RecordingListener second = new RecordingListener();
		DefaultLockTemplate template = template(this.blocked, second);
		LockHandle lost = template.acquire("a", LockOptions.lease(Duration.ofSeconds(10)).autoRenew(false));
		LockHandle late = template.acquire("b", LockOptions.defaults().autoRenew(false));
		this.handles.add(late);
		this.world.clock().advance(Duration.ofSeconds(25));
		assertThat(lost.release()).isFalse();
		late.startRenewal();
		LockWorld.eventually().until(() -> second.news().contains("renewed b late, 5 s before its end"));
	}

	@Test
	void callbacksOfSeveralLocksDelayNeitherEachOtherNorFutures() throws Exception {
		DefaultLockTemplate template = template();
		Map<String, LockOptions> both = Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults());
		LockHandles handles = template.acquireAll(both);
		CountDownLatch called = new CountDownLatch(2);
		for (int i = 0; i < 2; i++) {
			handles.onLost((reason) -> {
				called.countDown();
				awaitEnd();
			});
		}
		CompletableFuture<String> future = begin(template, "c");
		lose();
		assertThat(called.await(60, TimeUnit.SECONDS)).isTrue();
		assertLost(future);
	}

	@Test
	void dependentsOfAFutureDelayNoOtherFutureUnderTheSameLock() {
		DefaultLockTemplate template = template();
		List<CompletableFuture<String>> inner = new ArrayList<>();
		template.<String>executeAsync("a", LockOptions.defaults(), () -> {
			inner.add(begin(template, "a"));
			inner.add(begin(template, "a"));
			return new CompletableFuture<>();
		}, LeaseLossesTests::refused);
		AtomicInteger called = new AtomicInteger();
		inner.forEach((future) -> future.whenComplete((result, failure) -> {
			called.incrementAndGet();
			awaitEnd();
		}));
		lose();
		LockWorld.eventually().until(() -> called.get() == inner.size());
	}

	@Test
	void dependentsOfAFutureDelayNeitherOtherFuturesNorListeners() throws Exception {
		RecordingListener listener = new RecordingListener();
		DefaultLockTemplate template = template(listener);
		List<CompletableFuture<String>> futures = NAMES.stream().map((name) -> begin(template, name)).toList();
		AtomicInteger called = new AtomicInteger();
		futures.forEach((future) -> future.whenComplete((result, failure) -> {
			called.incrementAndGet();
			awaitEnd();
		}));
		lose();
		LockWorld.eventually().until(() -> called.get() == NAMES.size());
		LockWorld.eventually()
			.untilAsserted(() -> assertThat(listener.news()).filteredOn((news) -> news.startsWith("lost"))
				.hasSize(NAMES.size()));
	}

	@Test
	void dependentsOfAFutureDoNotDelayTheShutdown() {
		DefaultLockEngine engine = this.world.newEngine(LockWorld.settings(""));
		CountDownLatch called = new CountDownLatch(1);
		CompletableFuture<Boolean> ended = begin(new DefaultLockTemplate(engine), "a").handle((result, failure) -> {
			called.countDown();
			awaitEnd();
			return !Thread.currentThread().isInterrupted();
		});
		engine.close();
		LockWorld.eventually().until(() -> called.getCount() == 0);
		assertThat(engine.state().callbacks()).isZero();
		this.end.countDown();
		assertThat(ended).succeedsWithin(Duration.ofSeconds(60)).isEqualTo(true);
	}

	@Test
	void sequenceEndsWhileAListenerBlocks() throws Exception {
		ReactiveLockTemplate template = new ReactiveLockTemplate(template(this.blocked).engine());
		LockOptions interrupting = LockOptions.defaults().whenLost(WhenLost.INTERRUPT);
		List<CompletableFuture<String>> results = new ArrayList<>();
		for (String name : NAMES) {
			CountDownLatch begun = new CountDownLatch(1);
			results.add(template
				.<String>execute(name, interrupting, () -> Mono.<String>never().doOnSubscribe((s) -> begun.countDown()),
						(refusal) -> Mono.error(refusal.toException()))
				.toFuture());
			assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
		}
		lose();
		for (CompletableFuture<String> result : results) {
			assertLost(result);
		}
	}

	@Test
	void threadIsInterruptedWhileAListenerBlocks() throws Exception {
		DefaultLockTemplate template = template(this.blocked);
		LockOptions interrupting = LockOptions.defaults().whenLost(WhenLost.INTERRUPT);
		List<Worker<Boolean>> workers = new ArrayList<>();
		CountDownLatch working = new CountDownLatch(NAMES.size());
		for (String name : NAMES) {
			workers.add(Worker.start(() -> template.execute(name, interrupting, () -> {
				working.countDown();
				try {
					return this.end.await(120, TimeUnit.SECONDS);
				}
				catch (InterruptedException ex) {
					return true;
				}
			})));
		}
		assertThat(working.await(60, TimeUnit.SECONDS)).isTrue();
		lose();
		for (Worker<Boolean> worker : workers) {
			assertThat(worker.failure()).isInstanceOf(LockLostException.class);
		}
	}

	private DefaultLockTemplate template(LockListener... listeners) {
		return new DefaultLockTemplate(this.world.newEngine(LockWorld.settings(""), listeners));
	}

	private static CompletableFuture<String> begin(DefaultLockTemplate template, String name) {
		return template
			.<String>executeAsync(name, LockOptions.defaults(), CompletableFuture::new, LeaseLossesTests::refused)
			.toCompletableFuture();
	}

	private static CompletableFuture<String> refused(LockRefusal refusal) {
		return CompletableFuture.failedFuture(refusal.toException());
	}

	private void lose() {
		this.world.clock().advance(LockWorld.LEASE);
	}

	private static void assertLost(CompletableFuture<?> future) {
		assertThat(future).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(LockLostException.class);
	}

	private void awaitEnd() {
		try {
			assertThat(this.end.await(120, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private final class BlockedListener implements LockListener {

		private final Set<String> calls = ConcurrentHashMap.newKeySet();

		@Override
		public void onLost(LockHandle handle, LossReason reason) {
			this.calls.add(handle.name());
			awaitEnd();
		}

		void awaitCallsFor(List<String> names) {
			LockWorld.eventually().until(() -> this.calls.containsAll(names));
		}

	}

}
