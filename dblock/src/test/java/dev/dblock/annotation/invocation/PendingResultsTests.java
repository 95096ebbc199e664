package dev.dblock.annotation.invocation;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import java.util.stream.Stream;

import dev.dblock.annotation.name.LockedMethod;
import dev.dblock.execution.PendingTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.publisher.Mono;

import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.http.ResponseEntity;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

@ExtendWith(OutputCaptureExtension.class)
@Timeout(300)
class PendingResultsTests {

	private final PendingResults results = new PendingResults(new PendingTypes(getClass().getClassLoader()));

	private final LockedMethod method = method();

	private static LockedMethod method() {
		try {
			return new LockedMethod(Supplier.class.getMethod("get"), Supplier.class);
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void otherResultsPass() {
		Object result = new Object();
		assertThat(this.results.ended(this.method, result)).isSameAs(result);
		assertThat(this.results.ended(this.method, null)).isNull();
	}

	@Test
	void workThatIsOverPasses(CapturedOutput output) {
		CompletableFuture<String> done = CompletableFuture.completedFuture("x");
		assertThat(this.results.ended(this.method, done)).isSameAs(done);
		FutureTask<String> ran = new FutureTask<>(() -> "x");
		ran.run();
		assertThat(this.results.ended(this.method, ran)).isSameAs(ran);
		assertThat(output).doesNotContain("before its work was complete");
	}

	@Test
	void stageIsAwaitedAndLoggedOnce(CapturedOutput output) throws Exception {
		for (int i = 0; i < 2; i++) {
			CompletableFuture<String> work = new CompletableFuture<>();
			assertWaits(work.minimalCompletionStage(), () -> work.complete("x"));
		}
		assertThat(output).containsOnlyOnce("java.util.function.Supplier#get() returned a"
				+ " java.util.concurrent.CompletableFuture$MinimalStage before its work was complete; its caller waits"
				+ " for it, so that the lock is not released too early");
	}

	@Test
	void stageThatFailsIsTheCallersToSee() throws Exception {
		CompletableFuture<String> work = new CompletableFuture<>();
		assertWaits(work, () -> work.completeExceptionally(new IllegalStateException("broken")));
	}

	@Test
	void futureIsWaitedFor(CapturedOutput output) throws Exception {
		FutureTask<String> work = new FutureTask<>(() -> "x");
		assertWaits(work, work::run);
		FutureTask<String> failing = new FutureTask<>(() -> {
			throw new IllegalStateException("broken");
		});
		assertWaits(failing, failing::run);
		FutureTask<String> cancelled = new FutureTask<>(() -> "x");
		assertWaits(cancelled, () -> cancelled.cancel(true));
		assertThat(output).containsOnlyOnce("returned a java.util.concurrent.FutureTask before its work was complete");
	}

	@Test
	void workThatHasNotBegunIsRefused() {
		Callable<String> callable = () -> "x";
		assertRefused(callable);
		assertRefused(Mono.just("x"));
		assertRefused(new DeferredResult<>());
	}

	@Test
	void workInsideOfAContainerIsSeen() throws Exception {
		StreamingResponseBody body = (out) -> {
		};
		for (Object result : new Object[] { ResponseEntity.ok(body), Optional.of(body),
				Optional.of(ResponseEntity.ok(Optional.of(body))) }) {
			assertThatIllegalStateException().isThrownBy(() -> this.results.ended(this.method, result))
				.withMessageContaining("returned a " + body.getClass().getName() + ", whose work would continue");
		}
		CompletableFuture<String> work = new CompletableFuture<>();
		assertWaits(ResponseEntity.ok(work), () -> work.complete("x"));
		assertThat(this.results.ended(this.method, Optional.of("x"))).isEqualTo(Optional.of("x"));
		assertThat(this.results.ended(this.method, Optional.empty())).isEqualTo(Optional.empty());
		assertThat(this.results.ended(this.method, ResponseEntity.noContent().build())).isNotNull();
	}

	@Test
	void containersNeedNoWeb() {
		PendingResults without = new PendingResults(
				new PendingTypes(new FilteredClassLoader("org.springframework.http", "org.springframework.web")));
		ResponseEntity<String> response = ResponseEntity.ok("x");
		assertThat(without.ended(this.method, response)).isSameAs(response);
	}

	@Test
	void streamIsClosedAndRefused() {
		AtomicBoolean closed = new AtomicBoolean();
		assertRefused(Stream.of("x").onClose(() -> closed.set(true)));
		assertThat(closed).isTrue();
	}

	private void assertRefused(Object result) {
		assertThatIllegalStateException().isThrownBy(() -> this.results.ended(this.method, result))
			.withMessage("java.util.function.Supplier#get() returned a " + result.getClass().getName()
					+ ", whose work would continue without the lock; the result was discarded. Finish the work in the"
					+ " method, or acquire the lock where the work is done");
	}

	private void assertWaits(Object result, Runnable end) throws Exception {
		CountDownLatch ended = new CountDownLatch(1);
		AtomicReference<Object> returned = new AtomicReference<>();
		AtomicBoolean interrupted = new AtomicBoolean();
		Thread caller = new Thread(() -> {
			returned.set(this.results.ended(this.method, result));
			interrupted.set(Thread.currentThread().isInterrupted());
			ended.countDown();
		});
		caller.start();
		awaitParked(caller);
		caller.interrupt();
		await().atMost(Duration.ofSeconds(60)).until(() -> !caller.isInterrupted());
		awaitParked(caller);
		assertThat(ended.getCount()).isOne();
		end.run();
		ended.await();
		assertThat(returned).hasValue(result);
		assertThat(interrupted).isTrue();
	}

	private static void awaitParked(Thread thread) {
		await().atMost(Duration.ofSeconds(60)).until(() -> thread.getState() == Thread.State.TIMED_WAITING);
	}

}
