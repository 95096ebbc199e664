package dev.dblock.annotation.invocation;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockLostException;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.LockingConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.http.ResponseEntity;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Locked methods that return futures.
 */
@Timeout(300)
class FutureInvocationTests {

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
			LockingConfiguration.class, AsyncConfiguration.class, Orders.class);

	private final RecordingEngine engine = this.context.getBean(RecordingEngine.class);

	private final Orders orders = this.context.getBean(Orders.class);

	private final CompletableFuture<String> work = this.orders.work();

	@BeforeEach
	void clear() {
		this.engine.clear();
	}

	@AfterEach
	void close() {
		assertThat(LockContext.current()).isEmpty();
		this.context.close();
	}

	@Test
	void lockIsHeldUntilTheFutureHasCompleted() throws Exception {
		CompletableFuture<String> result = this.orders.completable("7");
		assertThat(result).isNotDone();
		assertThat(this.engine.isHeld("order-7")).isTrue();
		this.work.complete("done");
		assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(this.engine.events()).containsExactly("lock order-7", "run", "unlock order-7");
	}

	@Test
	void asyncMethodIsLockedInItsOwnThreadUntilItsFutureHasCompleted() throws Exception {
		CompletableFuture<String> result = this.orders.async("7");
		await().atMost(Duration.ofSeconds(60)).until(() -> this.engine.events().contains("run"));
		assertThat(this.engine.isHeld("order-7")).isTrue();
		this.work.complete("done");
		assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(this.engine.events()).containsExactly("lock order-7", "run", "unlock order-7");
	}

	@Test
	void refusalIsInTheFuture() throws Exception {
		this.engine.holdElsewhere("order-7");
		for (Future<String> result : List.of(this.orders.completable("7"), this.orders.async("7"))) {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(60, TimeUnit.SECONDS))
				.withCauseInstanceOf(LockUnavailableException.class);
		}
		assertThat(this.engine.events()).doesNotContain("run");
	}

	@Test
	void skippedFutureIsCompletedWithNothing() throws Exception {
		this.engine.holdElsewhere("skipping");
		assertThat(this.orders.skipping()).isCompletedWithValue(null);
		assertThat(this.orders.skipping()).isNotSameAs(this.orders.skipping());
		assertThat(this.orders.skippingOptional()).isCompletedWithValue(Optional.empty());
		assertThat(this.orders.skippingAsync().get(60, TimeUnit.SECONDS)).isNull();
		assertThat(this.engine.events()).doesNotContain("run");
	}

	@Test
	void callThatMaySkipIsSkippedWhileTheApplicationCloses() throws Exception {
		this.engine.beginClosing();
		assertThat(this.orders.skipping()).isCompletedWithValue(null);
		assertThat(this.orders.skippingOptional()).isCompletedWithValue(Optional.empty());
		assertThat(this.orders.skippingAsync().get(60, TimeUnit.SECONDS)).isNull();
		assertThat(this.engine.events()).isEmpty();
	}

	@Test
	void callThatMayNotSkipIsRefusedWhileTheApplicationCloses() {
		this.engine.beginClosing();
		for (Future<String> result : List.of(this.orders.completable("7"), this.orders.async("7"))) {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(60, TimeUnit.SECONDS))
				.withCauseInstanceOf(LockShutdownException.class);
		}
		assertThat(this.engine.events()).isEmpty();
	}

	@Test
	void aShutdownInTheMiddleOfAMethodIsNoSkip() {
		LockShutdownException shutdown = new LockShutdownException("another");
		CompletableFuture<String> later = this.orders.skipping();
		this.work.completeExceptionally(shutdown);
		for (Future<String> result : List.of(later, this.orders.skipping())) {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(60, TimeUnit.SECONDS))
				.withCause(shutdown);
		}
	}

	@Test
	void lossReachesTheReturnedFuture() {
		CompletableFuture<String> direct = this.orders.completable("1");
		CompletableFuture<String> async = this.orders.async("2");
		await().atMost(Duration.ofSeconds(60))
			.until(() -> this.engine.events().stream().filter("run"::equals).count() == 2);
		this.engine.lose("order-1");
		this.engine.lose("order-2");
		for (CompletableFuture<String> result : List.of(direct, async)) {
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(60, TimeUnit.SECONDS))
				.withCauseInstanceOf(LockLostException.class);
		}
	}

	@Test
	void futureWithoutCompletionCallbacksIsWaitedForUnderTheLock() throws Exception {
		FutureTask<String> task = new FutureTask<>(() -> "done");
		CompletableFuture<Future<String>> call = CompletableFuture.supplyAsync(() -> this.orders.plain(task));
		await().atMost(Duration.ofSeconds(60)).until(() -> this.engine.events().contains("run"));
		assertThat(this.engine.isHeld("plain")).isTrue();
		task.run();
		assertThat(call.get(60, TimeUnit.SECONDS).get()).isEqualTo("done");
		assertThat(this.engine.isHeld("plain")).isFalse();
	}

	@Test
	void outcomeOfAFutureThatWasWaitedForIsItsOwn() {
		FutureTask<String> failing = new FutureTask<>(() -> {
			throw new IllegalStateException("scripted");
		});
		failing.run();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> this.orders.plain(failing).get())
			.withCauseInstanceOf(IllegalStateException.class);
		FutureTask<String> cancelled = new FutureTask<>(() -> "done");
		cancelled.cancel(true);
		assertThat(this.orders.plain(cancelled).isCancelled()).isTrue();
		assertThat(this.orders.plain(null)).isNull();
		assertThat(this.orders.plain(CompletableFuture.completedFuture("done"))).succeedsWithin(Duration.ofSeconds(60))
			.isEqualTo("done");
		assertThat(this.engine.isHeld("plain")).isFalse();
	}

	@Test
	void waitForAFutureEndsWithTheLock() {
		FutureTask<String> never = new FutureTask<>(() -> "done");
		CompletableFuture<Future<String>> call = CompletableFuture.supplyAsync(() -> this.orders.plain(never));
		await().atMost(Duration.ofSeconds(60)).until(() -> this.engine.events().contains("run"));
		this.engine.lose("plain");
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> call.get(60, TimeUnit.SECONDS))
			.withCauseInstanceOf(LockLostException.class);
	}

	@Test
	void exceptionOfTheMethodItselfPassesUnchanged() {
		assertThatIllegalStateException().isThrownBy(this.orders::throwing).withMessage("scripted");
		assertThat(this.engine.isHeld("throwing")).isFalse();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void deliveredWorkThatWouldGoOnWithoutTheLockIsDropped(boolean stage) {
		AtomicBoolean closed = new AtomicBoolean();
		for (Object work : List.of(Mono.just("later"), Stream.of("later").onClose(() -> closed.set(true)),
				(Callable<String>) () -> "later", new CompletableFuture<>(), Optional.of(Flux.just("later")),
				ResponseEntity.ok(Mono.just("later")))) {
			Future<Object> delivered = stage ? new CompletableFuture<>() : new FutureTask<>(() -> work);
			Future<Object> result = this.orders.delivering(begin(delivered, work));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(60, TimeUnit.SECONDS))
				.withCauseInstanceOf(IllegalStateException.class)
				.withMessageContaining("#delivering(Future) returned a ")
				.withMessageContaining("whose work would continue without the lock; the result was discarded");
			assertThat(this.engine.isHeld("delivering")).isFalse();
		}
		assertThat(closed).isTrue();
	}

	private static Future<Object> begin(Future<Object> delivered, Object work) {
		if (delivered instanceof CompletableFuture<Object> future) {
			future.complete(work);
		}
		else {
			((FutureTask<Object>) delivered).run();
		}
		return delivered;
	}

	@Test
	void deliveredWorkThatIsOverPasses() {
		for (Object over : List.of("done", CompletableFuture.completedFuture("done"), Optional.of("done"),
				List.of("done"))) {
			assertThat(this.orders.delivering(CompletableFuture.completedFuture(over)))
				.succeedsWithin(Duration.ofSeconds(60))
				.isSameAs(over);
		}
		assertThat(this.orders.delivering(CompletableFuture.completedFuture(null)))
			.succeedsWithin(Duration.ofSeconds(60))
			.isNull();
	}

	@Test
	void lockIsHeldUntilTheResultWasRead() {
		CompletableFuture<Object> delivered = new CompletableFuture<>();
		Future<Object> result = this.orders.delivering(delivered);
		assertThat(this.engine.isHeld("delivering")).isTrue();
		delivered.complete(Mono.empty());
		assertThat(result).failsWithin(Duration.ofSeconds(60));
		assertThat(this.engine.isHeld("delivering")).isFalse();
		CompletableFuture<Object> failing = CompletableFuture.failedFuture(new IllegalArgumentException("scripted"));
		assertThat(this.orders.delivering(failing)).failsWithin(Duration.ofSeconds(60))
			.withThrowableThat()
			.withCauseInstanceOf(IllegalArgumentException.class);
	}

	@Test
	void methodsCallEachOtherUnderTheSameLock() throws Exception {
		CompletionStage<String> result = this.orders.outer(this.orders);
		assertThat(this.engine.events()).containsExactly("lock order-7", "run");
		this.work.complete("done");
		assertThat(result.toCompletableFuture().get(60, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(this.engine.events()).containsExactly("lock order-7", "run", "unlock order-7");
	}

	@EnableAsync(proxyTargetClass = true)
	static class AsyncConfiguration {

	}

	public static class Orders {

		private final CompletableFuture<String> work = new CompletableFuture<>();

		private final RecordingEngine engine;

		Orders(RecordingEngine engine) {
			this.engine = engine;
		}

		public CompletableFuture<String> work() {
			return this.work;
		}

		@DistributedLock("order-#{#id}")
		public CompletableFuture<String> completable(String id) {
			this.engine.event("run");
			return this.work;
		}

		@DistributedLock("order-7")
		public CompletionStage<String> outer(Orders self) {
			return self.completable("7");
		}

		@Async
		@DistributedLock("order-#{#id}")
		public CompletableFuture<String> async(String id) {
			this.engine.event("run");
			return this.work;
		}

		@DistributedLock("plain")
		public Future<String> plain(Future<String> result) {
			this.engine.event("run");
			return result;
		}

		@DistributedLock("delivering")
		public Future<Object> delivering(Future<Object> result) {
			return result;
		}

		@DistributedLock("throwing")
		public CompletableFuture<String> throwing() {
			throw new IllegalStateException("scripted");
		}

		@DistributedLock(name = "skipping", whenUnavailable = WhenUnavailable.SKIP)
		public CompletableFuture<String> skipping() {
			this.engine.event("run");
			return this.work;
		}

		@DistributedLock(name = "skipping", whenUnavailable = WhenUnavailable.SKIP)
		public CompletableFuture<Optional<String>> skippingOptional() {
			this.engine.event("run");
			return CompletableFuture.completedFuture(Optional.of("x"));
		}

		@Async
		@DistributedLock(name = "skipping", whenUnavailable = WhenUnavailable.SKIP)
		public Future<String> skippingAsync() {
			this.engine.event("run");
			return this.work;
		}

	}

}
