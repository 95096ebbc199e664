package dev.dblock.annotation.invocation;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;

import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockTemplate;
import dev.dblock.WhenLost;
import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.core.LockWorld;
import dev.dblock.execution.PendingTypes;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Asynchronous results of methods whose return type does not show them.
 */
@Timeout(60)
class AwaitedResultsTests {

	private final LockWorld world = new LockWorld();

	private final LockTemplate template = this.world.template();

	private final PendingResults results = new PendingResults(new PendingTypes(getClass().getClassLoader()));

	@AfterEach
	void close() {
		this.world.close();
	}

	private static CompletionStage<String> refused(LockRefusal refusal) {
		return CompletableFuture.failedFuture(refusal.toException());
	}

	@Test
	void futureOfAnotherLockedMethodIsWaitedForThoughItsLockIsLost() throws Exception {
		LockedMethod method = new LockedMethod(Supplier.class.getMethod("get"), Supplier.class);
		CompletableFuture<String> work = new CompletableFuture<>();
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Object> call = CompletableFuture
			.supplyAsync(() -> this.template.<Object>execute("outer", () -> {
				CompletionStage<String> inner = this.template.<String>executeAsync("inner", LockOptions.defaults(),
						() -> work, AwaitedResultsTests::refused);
				begun.countDown();
				return this.results.ended(method, inner);
			}));
		begun.await();
		this.world.rob("inner");
		this.world.advance(Duration.ofSeconds(11));
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> call.get(3, TimeUnit.SECONDS));
		assertThat(this.template.inspect("outer").filter(LockInfo::held)).isPresent();
		work.complete("done");
		call.get(60, TimeUnit.SECONDS);
	}

	@Test
	void deliveredFutureIsNotOverBecauseItsOwnLockWasLost() throws Exception {
		LockedMethod method = new LockedMethod(Supplier.class.getMethod("get"), Supplier.class);
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletionStage<String> inner = this.template.<String>executeAsync("inner", LockOptions.defaults(), () -> work,
				AwaitedResultsTests::refused);
		this.world.rob("inner");
		this.world.advance(Duration.ofSeconds(11));
		LockWorld.eventually().until(() -> inner.toCompletableFuture().isDone());
		assertThatIllegalStateException().isThrownBy(() -> this.results.delivered(method, inner));
		work.complete("done");
		LockWorld.eventually()
			.ignoreException(IllegalStateException.class)
			.untilAsserted(() -> this.results.delivered(method, inner));
	}

	@Test
	void resultThatNeedsAThreadOfTheWaitingPoolGetsOne() throws Exception {
		LockedMethod method = new LockedMethod(Supplier.class.getMethod("get"), Supplier.class);
		ForkJoinPool pool = new ForkJoinPool(1);
		try {
			for (Function<Supplier<String>, Object> begin : List
				.<Function<Supplier<String>, Object>>of((work) -> CompletableFuture.supplyAsync(work, pool), (work) -> {
					FutureTask<String> task = new FutureTask<>(work::get);
					pool.execute(task);
					return task;
				})) {
				CompletableFuture<Object> call = CompletableFuture.supplyAsync(() -> this.template
					.<Object>execute("outer", () -> this.results.ended(method, begin.apply(() -> "done"))), pool);
				assertThat(call.get(50, TimeUnit.SECONDS)).isNotNull();
			}
		}
		finally {
			pool.shutdownNow();
		}
	}

	@Test
	void taskThatIgnoresTheStopOfItsPoolIsWaitedFor() throws Exception {
		LockedMethod method = new LockedMethod(Supplier.class.getMethod("get"), Supplier.class);
		ForkJoinPool pool = new ForkJoinPool(2);
		CountDownLatch begun = new CountDownLatch(1);
		AtomicBoolean over = new AtomicBoolean();
		ForkJoinTask<String> task = pool.submit(() -> {
			begun.countDown();
			while (!over.get()) {
				Thread.onSpinWait();
			}
			return "done";
		});
		begun.await();
		CompletableFuture<Object> call = new CompletableFuture<>();
		CountDownLatch waiting = new CountDownLatch(1);
		pool.execute(() -> call.complete(this.template.<Object>execute("outer", () -> {
			waiting.countDown();
			return this.results.ended(method, task);
		})));
		waiting.await();
		pool.shutdownNow();
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> call.get(3, TimeUnit.SECONDS));
		assertThat(this.template.inspect("outer").filter(LockInfo::held)).isPresent();
		over.set(true);
		call.get(50, TimeUnit.SECONDS);
	}

	@Test
	void foreignInterruptOutlivesALossWhileAResultIsAwaited() throws Exception {
		LockedMethod method = new LockedMethod(Supplier.class.getMethod("get"), Supplier.class);
		LockOptions interrupting = LockOptions.defaults().autoRenew(false).whenLost(WhenLost.INTERRUPT);
		CountDownLatch begun = new CountDownLatch(1);
		AtomicBoolean interrupted = new AtomicBoolean();
		Thread thread = new Thread(() -> {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.template.<Object>execute("outer", interrupting, () -> {
					begun.countDown();
					return this.results.ended(method, new CompletableFuture<>());
				}));
			interrupted.set(Thread.currentThread().isInterrupted());
		});
		thread.start();
		begun.await();
		thread.interrupt();
		LockWorld.eventually().until(() -> !thread.isInterrupted());
		this.world.advance(Duration.ofSeconds(31));
		thread.join();
		assertThat(interrupted).isTrue();
	}

}
