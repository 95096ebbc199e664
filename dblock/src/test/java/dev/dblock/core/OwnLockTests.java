package dev.dblock.core;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockUnavailableException;
import dev.dblock.core.Request.Kind;
import dev.dblock.execution.DefaultLockTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * A thread that holds a lock by a handle does not wait for itself.
 */
@Timeout(60)
class OwnLockTests {

	private static final LockOptions PATIENT = LockOptions.defaults().waitUpTo(Duration.ofDays(1));

	@RegisterExtension
	final LockWorld world = new LockWorld();

	private final DefaultLockTemplate locks = this.world.template();

	private LockHandle handle;

	/**
	 * Requests the lock {@code a} with a wait.
	 */
	@FunctionalInterface
	private interface Call {

		void run(DefaultLockTemplate locks) throws Throwable;

	}

	static Stream<Arguments> reentering() {
		return Stream.of(call("execute", (locks) -> locks.execute("a", PATIENT, () -> "done")),
				call("executeAsync", (locks) -> joined(locks)),
				call("executeAll", (locks) -> locks.executeAll(List.of("b", "a"), PATIENT, () -> "done")));
	}

	static Stream<Arguments> all() {
		return Stream.concat(reentering(),
				Stream.of(call("acquire", (locks) -> locks.acquire("a", PATIENT)),
						call("tryAcquire", OwnLockTests::tryAcquire),
						call("acquireAll", (locks) -> locks.acquireAll(List.of("a", "b"), PATIENT))));
	}

	private static Arguments call(String name, Call call) {
		return arguments(name, call);
	}

	private static void joined(DefaultLockTemplate locks) {
		locks.executeAsync("a", PATIENT, () -> CompletableFuture.completedFuture("done"), (refusal) -> {
			throw refusal.toException();
		}).toCompletableFuture().join();
	}

	private static void tryAcquire(DefaultLockTemplate locks) {
		if (locks.tryAcquire("a", PATIENT).isEmpty()) {
			throw new LockRefusal("a", null, Duration.ZERO, "within(handle, ...)", null).toException();
		}
	}

	private int requests() {
		return this.world.repository().count(Kind.ACQUIRE, "a");
	}

	private void awaitWaitingForTheLock(Worker<?> worker) {
		LockWorld.eventually().until(() -> worker.isDone() || this.world.engine().state().waiting() == 1);
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("all")
	void isRefusedAtOnce(String name, Call call) {
		this.handle = this.locks.acquire("a");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> call.run(this.locks))
			.withMessageContaining("within(handle, ...)");
		assertThat(requests()).isEqualTo(1);
		assertThat(this.handle.isHeld()).isTrue();
		assertThat(this.world.repository().isHeld("b")).isFalse();
		this.handle.close();
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("reentering")
	void isReenteredWithinTheHandle(String name, Call call) throws Throwable {
		try (LockHandle own = this.locks.acquire("a")) {
			this.locks.within(own, () -> {
				call.run(this.locks);
				return true;
			});
			assertThat(own.isHeld()).isTrue();
		}
		assertThat(requests()).isEqualTo(1);
	}

	@Test
	void isExplainedByTheRefusal() {
		this.handle = this.locks.acquire("a", LockOptions.defaults().why("the outer work"));
		LockRefusal refusal = this.locks.<LockRefusal>execute("a", PATIENT, () -> {
			throw new AssertionError("begun");
		}, (refused) -> refused);
		assertThat(refusal.waited()).isZero();
		assertThat(refusal.describe()).contains("held by host-1:4711:k7 (thread ", "for the outer work",
				"This thread itself holds it", "LockTemplate.within(handle, ...)");
		assertThat(refuse(LockOptions.defaults()).describe()).as("without a wait").isEqualTo(refusal.describe());
		assertThat(refuse(this.world.anotherProcess(), LockOptions.defaults()).remark()).isNull();
		this.handle.close();
	}

	private LockRefusal refuse(LockOptions options) {
		return refuse(this.locks, options);
	}

	private static LockRefusal refuse(DefaultLockTemplate locks, LockOptions options) {
		return LockWorld.refused(locks.engine().acquire("a", options));
	}

	@Test
	void isNotAcquiredByHandInsideItsWork() {
		this.locks.execute("a", () -> {
			assertThat(refuse(PATIENT).remark()).contains("acquire and tryAcquire never re-enter");
			assertThat(LockContext.current("a").orElseThrow().isHeld()).isTrue();
		});
	}

	@Test
	void isNotAcquiredByHandWhileATransactionKeepsIt() {
		new ScriptedTransactions().run(() -> {
			this.locks.acquire("a").close();
			assertThat(refuse(PATIENT).remark()).contains("This thread itself holds it");
			this.locks.execute("a", PATIENT, () -> assertThat(LockContext.current("a")).isPresent());
		});
		assertThat(this.world.repository().isHeld("a")).isFalse();
	}

	@Test
	void isWaitedForIfItsLeaseEndsWithinTheWait() throws Exception {
		Duration lease = Duration.ofSeconds(10);
		Worker<Boolean> worker = Worker.start(() -> {
			LockHandle own = this.world.acquire("a", LockOptions.lease(lease).autoRenew(false));
			assertThat(refuse(LockOptions.defaults().waitUpTo(lease.minusSeconds(1))).waited()).isZero();
			this.locks.execute("a", PATIENT, () -> assertThat(own.isHeld()).isFalse());
			return true;
		});
		awaitWaitingForTheLock(worker);
		this.world.advance(lease.plusSeconds(1));
		assertThat(worker.result()).isTrue();
	}

	@Test
	void isWaitedForWhileAnotherThreadWorksUnderIt() throws Exception {
		CountDownLatch entered = new CountDownLatch(1);
		CountDownLatch end = new CountDownLatch(1);
		Worker<String> worker = Worker.start(() -> {
			LockHandle own = this.locks.acquire("a");
			Worker.start(() -> {
				this.locks.within(own, () -> {
					entered.countDown();
					end.await();
					return true;
				});
				own.close();
				return true;
			});
			entered.await();
			return this.locks.execute("a", PATIENT, () -> "done");
		});
		awaitWaitingForTheLock(worker);
		end.countDown();
		assertThat(worker.result()).isEqualTo("done");
	}

	@Test
	void isWaitedForByAnotherThreadOnly() throws Exception {
		this.handle = this.locks.acquire("a");
		Worker<String> worker = Worker.start(() -> this.locks.execute("a", PATIENT, () -> "done"));
		worker.awaitWaiting();
		this.handle.close();
		assertThat(worker.result()).isEqualTo("done");
		assertThat(this.locks.asLock("a").tryLock(1, TimeUnit.DAYS)).isTrue();
		this.locks.asLock("a").unlock();
	}

	@Test
	void isWaitedForByTheThreadThatBeganAsynchronousWorkUnderIt() throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		Worker<String> worker = Worker.start(() -> {
			this.locks.executeAsync("a", () -> work);
			return this.locks.execute("a", PATIENT, () -> "done");
		});
		worker.awaitWaiting();
		assertThat(worker.isDone()).isFalse();
		work.complete("done");
		assertThat(worker.result()).isEqualTo("done");
	}

}
