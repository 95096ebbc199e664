package dev.dblock;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import dev.dblock.core.LockWorld;
import dev.dblock.core.Worker;
import dev.dblock.execution.DefaultLockTemplate;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.http.ResponseEntity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(300)
class LockTemplateTests {

	private static final LockOptions UNRENEWED = LockOptions.defaults().autoRenew(false);

	private final LockWorld world = new LockWorld();

	private final DefaultLockTemplate template = this.world.template();

	@AfterEach
	void close() {
		assertThat(LockContext.current()).isEmpty();
		this.world.close();
	}

	private boolean isHeld(String name) {
		return this.template.inspect(name).filter(LockInfo::held).isPresent();
	}

	private void loseAll() {
		this.world.clock().advance(Duration.ofSeconds(30));
	}

	@Test
	void onePlainCallTakesWorkOfEveryKind() {
		List<String> done = new ArrayList<>();
		String value = this.template.execute("a", () -> "value");
		String nothing = this.template.execute("a", () -> null);
		this.template.execute("a", () -> done.clear());
		this.template.execute("a", done::clear);
		this.template.execute("a", LockOptions.defaults(), () -> {
			done.add("block");
		});
		this.template.execute("a", () -> done.add("first"), () -> done.add("second"));
		this.template.executeAll(List.of("a", "b"), () -> {
			done.add("all");
		});
		assertThat(value).isEqualTo("value");
		assertThat(nothing).isNull();
		assertThat(done).containsExactly("block", "first", "second", "all");
		assertThatIllegalArgumentException().isThrownBy(() -> this.template.execute("a"))
			.withMessageContaining("no work");
	}

	@Test
	void aCheckedExceptionIsThrownUnchanged() {
		IOException failure = new IOException("scripted");
		assertThatThrownBy(() -> this.template.execute("a", () -> fail(failure))).isSameAs(failure);
		assertThatThrownBy(() -> this.template.execute("a", () -> {
			throw failure;
		})).isSameAs(failure);
		assertThat(isHeld("a")).isFalse();
	}

	private static void fail(IOException failure) throws IOException {
		throw failure;
	}

	@Test
	void asynchronousWorkNeedsNeitherOptionsNorFallback() {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletionStage<String> result = this.template.executeAsync("a", () -> work);
		assertThat(isHeld("a")).isTrue();
		work.complete("done");
		assertThat(result).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("done");
		try (LockHandle other = this.world.anotherProcess().acquire("a")) {
			CompletionStage<String> refused = this.template.executeAsync("a", () -> work);
			assertThat(refused).failsWithin(Duration.ofSeconds(60))
				.withThrowableThat()
				.withCauseInstanceOf(LockUnavailableException.class);
		}
	}

	@Test
	void executeGivesTheResultOfTheWorkThatWasDoneUnderTheLock() {
		String result = this.template.execute("a", () -> {
			assertThat(isHeld("a")).isTrue();
			return "done";
		});
		assertThat(result).isEqualTo("done");
		assertThat(isHeld("a")).isFalse();
		assertThat(this.template.<Object>execute("a", () -> null)).isNull();
	}

	@Test
	void executeRunsATaskWithoutAResult() {
		AtomicReference<String> done = new AtomicReference<>();
		this.template.execute("a", () -> done.set("first"));
		assertThat(done).hasValue("first");
		this.template.execute("a", UNRENEWED, () -> done.set("second"));
		assertThat(done).hasValue("second");
		assertThat(isHeld("a")).isFalse();
	}

	@Test
	void executeDoesNotStartWorkWhoseLockIsHeld() {
		this.world.seize("a", Duration.ofSeconds(30));
		List<String> done = new ArrayList<>();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.template.execute("a", () -> done.add("work")))
			.withMessageContaining("'a' is not available")
			.withMessageContaining("host-2:815:x1")
			.withMessageContaining("another process")
			.satisfies((unavailable) -> {
				assertThat(unavailable.name()).isEqualTo("a");
				assertThat(unavailable.holder()).isNotNull();
				assertThat(unavailable.holder().thread()).isEqualTo("other");
			});
		assertThat(done).isEmpty();
	}

	@Test
	void executeRunsTheAlternativeWhenTheLockIsHeld() throws Exception {
		this.world.seize("a", Duration.ofSeconds(30));
		String result = this.template.execute("a", LockOptions.defaults(), () -> "work",
				(refusal) -> "instead of " + refusal.name());
		assertThat(result).isEqualTo("instead of a");
		assertThatExceptionOfType(IOException.class)
			.isThrownBy(() -> this.template.<String>execute("a", LockOptions.defaults(), () -> "work", (refusal) -> {
				throw new IOException("scripted");
			}));
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void executeReEntersInTheSameThreadWithoutATrip() {
		this.template.execute("a", () -> {
			long token = this.template.inspect("a").orElseThrow().token();
			this.template.execute("a", () -> {
				assertThat(LockContext.current().orElseThrow().name()).isEqualTo("a");
			});
			assertThat(isHeld("a")).as("the inner end does not release").isTrue();
			assertThat(this.template.inspect("a").orElseThrow().token()).isEqualTo(token);
		});
		assertThat(isHeld("a")).isFalse();
	}

	@Test
	void executeReEntersThroughNestedLocksOfOtherNames() {
		this.template.execute("a", () -> this.template.execute("b", () -> {
			assertThat(LockContext.current().orElseThrow().name()).isEqualTo("b");
			this.template.execute("a", () -> {
				assertThat(LockContext.current().orElseThrow().name()).isEqualTo("a");
				assertThat(LockContext.current("b")).isPresent();
				this.template.execute("b", () -> assertThat(isHeld("b")).isTrue());
			});
			assertThat(isHeld("a")).isTrue();
			assertThat(isHeld("b")).isTrue();
		}));
		assertThat(isHeld("a")).isFalse();
		assertThat(isHeld("b")).isFalse();
	}

	@Test
	void executeReEntersThroughAnotherTemplateOfTheSameEngineOnly() {
		DefaultLockTemplate twin = new DefaultLockTemplate(this.template.engine());
		DefaultLockTemplate stranger = this.world.anotherProcess();
		this.template.execute("a", () -> {
			twin.execute("a", () -> {
			});
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> stranger.execute("a", () -> {
			}));
		});
	}

	@Test
	void anotherThreadDoesNotReEnter() throws Exception {
		Throwable failure = this.template.execute("a",
				() -> Worker.start(() -> this.template.execute("a", () -> "work")).failure());
		assertThat(failure).isInstanceOf(LockUnavailableException.class);
	}

	@Test
	void manuallyAcquiredHandlesNeitherReEnterNorAreReEntered() {
		this.template.execute("a", () -> {
			assertThat(this.template.tryAcquire("a")).isEmpty();
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.template.acquire("a"));
		});
		try (LockHandle handle = this.template.acquire("a")) {
			assertThat(LockContext.current()).isEmpty();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> this.template.execute("a", () -> {
				}));
			assertThat(handle.isHeld()).isTrue();
		}
	}

	@Test
	void noWorkBeginsInsideALockThatIsLost() {
		List<String> done = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute("a", UNRENEWED, () -> {
				loseAll();
				this.template.execute("a", () -> done.add("inner"));
			}));
		assertThat(done).isEmpty();
	}

	@Test
	void aLossInsideAReEntryIsReportedWhenTheOuterWorkEnds() {
		List<String> done = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute("a", UNRENEWED, () -> {
				this.template.execute("a", this::loseAll);
				done.add("outer");
			}))
			.satisfies((lost) -> assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED));
		assertThat(done).containsExactly("outer");
	}

	@Test
	void aLossOutranksTheResult() {
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute("a", UNRENEWED, () -> {
				loseAll();
				return "done";
			}))
			.withNoCause()
			.satisfies((lost) -> assertThat(lost.getSuppressed()).isEmpty());
	}

	@Test
	void aLossOutranksAnExceptionOfTheWorkButDropsItNot() {
		IOException failure = new IOException("scripted");
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.template.execute("a", UNRENEWED, () -> {
				loseAll();
				throw failure;
			}))
			.satisfies((lost) -> assertThat(lost.getSuppressed()).containsExactly(failure));
	}

	@Test
	void aLossIsAddedToAnErrorOfTheWork() {
		AssertionError failure = new AssertionError("scripted");
		assertThatThrownBy(() -> this.template.execute("a", UNRENEWED, () -> {
			loseAll();
			throw failure;
		})).isSameAs(failure);
		assertThat(failure.getSuppressed()).hasOnlyElementsOfType(LockLostException.class).hasSize(1);
	}

	@Test
	void aLossThatTheWorkItselfFoundIsThrownOnce() {
		AtomicReference<LockLostException> found = new AtomicReference<>();
		assertThatThrownBy(() -> this.template.execute("a", UNRENEWED, () -> {
			loseAll();
			try {
				LockContext.current().orElseThrow().ensureHeld();
			}
			catch (LockLostException ex) {
				found.set(ex);
				throw ex;
			}
		})).isInstanceOf(LockLostException.class).isSameAs(found.get());
	}

	@Test
	void anyExceptionOfTheWorkReachesTheCallerAsItIs() {
		for (Throwable failure : new Throwable[] { new IOException("scripted"), new IllegalStateException("scripted"),
				new StackOverflowError("scripted") }) {
			assertThatThrownBy(() -> this.template.execute("a", () -> {
				throw failure;
			})).isSameAs(failure);
			assertThat(failure.getSuppressed()).isEmpty();
			assertThat(isHeld("a")).isFalse();
		}
	}

	@Test
	void aReleaseThatFailsHidesNothing() {
		this.world.failReleases(new IllegalStateException("the client is closed"));
		assertThat(this.template.<String>execute("a", () -> "done")).isEqualTo("done");
		IOException failure = new IOException("scripted");
		assertThatThrownBy(() -> this.template.execute("b", () -> {
			throw failure;
		})).isSameAs(failure);
	}

	@Test
	void anErrorOfTheReleaseHidesNoExceptionOfTheWork() {
		this.world.failReleases(new StackOverflowError("scripted"));
		IOException failure = new IOException("scripted");
		assertThatThrownBy(() -> this.template.execute("a", () -> {
			throw failure;
		})).isSameAs(failure);
		assertThat(failure.getSuppressed()).hasOnlyElementsOfType(StackOverflowError.class).hasSize(1);
	}

	@Test
	void tryAcquireAsksOnceWhateverWaitIsConfigured() {
		DefaultLockTemplate patient = this.world.anotherProcess(LockOptions.defaults().waitUpTo(Duration.ofDays(1)));
		try (LockHandle held = this.template.acquire("a")) {
			assertThat(patient.tryAcquire("a")).isEmpty();
			assertThat(patient.tryAcquire("a", UNRENEWED)).isEmpty();
			assertThat(held.isHeld()).isTrue();
		}
		Optional<LockHandle> free = patient.tryAcquire("a");
		assertThat(free).isPresent();
		free.get().close();
	}

	@Test
	void tryAcquireWaitsAsItsOwnOptionsSay() throws Exception {
		LockHandle held = this.template.acquire("a");
		Worker<Optional<LockHandle>> waiter = Worker
			.start(() -> this.template.tryAcquire("a", LockOptions.defaults().waitUpTo(Duration.ofDays(1))));
		assertThat(waiter.isDone()).isFalse();
		held.close();
		assertThat(waiter.result()).isPresent();
	}

	@Test
	void acquireWaitsAsConfigured() throws Exception {
		DefaultLockTemplate patient = this.world.anotherProcess(LockOptions.defaults().waitUpTo(Duration.ofDays(1)));
		LockHandle held = this.template.acquire("a");
		Worker<LockHandle> waiter = Worker.start(() -> patient.acquire("a"));
		assertThat(waiter.isDone()).isFalse();
		held.close();
		LockWorld.eventually().until(() -> {
			this.world.clock().advance(Duration.ofMillis(2));
			return waiter.isDone();
		});
		assertThat(waiter.result().isHeld()).isTrue();
	}

	@Test
	void locksAreListedAndForciblyReleased() {
		assertThat(this.template.inspect("a")).isEmpty();
		LockHandle handle = this.template.acquire("a");
		this.template.acquire("b").close();
		assertThat(this.template.list().locks()).extracting(LockInfo::name).containsExactly("a");
		LockPage all = this.template.listAll("", 10);
		assertThat(all.locks()).extracting(LockInfo::name).containsExactly("a", "b");
		assertThat(all.locks()).extracting(LockInfo::held).containsExactly(true, false);
		assertThat(this.template.listAll("a", 10).locks()).extracting(LockInfo::name).containsExactly("b");
		assertThat(this.template.listAll("", 1).more()).isTrue();
		assertThat(this.template.list("a", 10).locks()).isEmpty();
		assertThat(this.template.forceRelease("a")).isTrue();
		assertThat(this.template.forceRelease("a")).isFalse();
		assertThat(this.world.anotherProcess().tryAcquire("a")).as("the holder is not overlapped").isEmpty();
		assertThat(this.template.forceReleaseNow("a")).isTrue();
		assertThat(this.template.forceReleaseNow("a")).isFalse();
		assertThat(this.world.anotherProcess().tryAcquire("a")).isPresent();
		assertThat(handle.release()).isFalse();
	}

	@Test
	void everyMethodRefusesAnInvalidName() {
		LockOperations locks = this.template;
		assertThatIllegalArgumentException().isThrownBy(() -> locks.execute(" ", () -> "work"));
		assertThatIllegalArgumentException().isThrownBy(() -> locks.execute("", () -> {
		}));
		assertThatIllegalArgumentException().isThrownBy(() -> locks.tryAcquire(""));
		assertThatIllegalArgumentException().isThrownBy(() -> locks.acquire("a\n"));
		assertThatIllegalArgumentException().isThrownBy(() -> locks.inspect(""));
		assertThatIllegalArgumentException().isThrownBy(() -> locks.forceRelease(""));
		assertThatIllegalArgumentException().isThrownBy(() -> locks.forceReleaseNow(""));
	}

	@Test
	void theContextContainsTheLocksOfExecute() {
		assertThat(LockContext.current()).isEmpty();
		assertThat(LockContext.current("a")).isEmpty();
		this.template.execute("a", () -> {
			assertThat(LockContext.current()).isPresent();
			assertThat(LockContext.current("a")).isPresent();
			assertThat(LockContext.current("b")).isEmpty();
			this.template.execute("b", () -> assertThat(LockContext.current("b")).isPresent());
			assertThat(LockContext.current().orElseThrow().name()).as("left the inner one").isEqualTo("a");
		});
		assertThatThrownBy(() -> this.template.execute("a", () -> {
			throw new IllegalStateException("scripted");
		})).isInstanceOf(IllegalStateException.class);
		assertThat(LockContext.current()).isEmpty();
	}

	@Test
	void theContextIsThatOfItsThread() throws Exception {
		Optional<LockHandle> elsewhere = this.template.<Optional<LockHandle>>execute("a",
				() -> Worker.start(() -> LockContext.current()).result());
		assertThat(elsewhere).isEmpty();
	}

	@Test
	void aNameThatIsNullIsRefusedAsOne() {
		List<ThrowingCallable> requests = List.of(() -> this.template.acquire(null),
				() -> this.template.tryAcquire(null), () -> this.template.execute(null, () -> "work"),
				() -> this.template.executeAsync(null, LockOptions.defaults(), () -> null, (refusal) -> null),
				() -> this.template.asLock(null), () -> this.template.acquireAll("a", null),
				() -> this.template.tryAcquireAll("a", null),
				() -> this.template.executeAll(Arrays.asList("a", null), () -> "work"),
				() -> this.template.inspect(null), () -> this.template.forceRelease(null),
				() -> this.template.forceReleaseNow(null));
		for (ThrowingCallable request : requests) {
			assertThatIllegalArgumentException().isThrownBy(request)
				.withMessageStartingWith("The name of the lock is null");
		}
		assertThat(this.template.tryAcquire("a")).as("nothing was kept").isPresent();
	}

	@Test
	void aRefusalReportsTheHolder() {
		LockRefusal unknown = new LockRefusal("a", null, Duration.ofSeconds(3));
		assertThat(unknown.describe()).isEqualTo("The lock 'a' is not available after a wait of 3 s");
		assertThat(unknown.toException().holder()).isNull();
		this.template.acquire("a", LockOptions.defaults().minHold(Duration.ofSeconds(20))).close();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.template.acquire("a"))
			.withMessageContaining(
					"released by host-1:4711:k7 within its minimum hold, or by an operator; unavailable for another"
							+ " 20 s");
	}

	@Test
	void everyLossComesWithAnAdvice() {
		for (LossReason reason : LossReason.values()) {
			assertThat(new LockLostException("a", 7, reason)).hasMessageContaining(reason.description())
				.hasMessageContaining("fencing token 7")
				.hasMessageMatching(".*(Acquire it again|Another process may hold it now).*");
		}
	}

	static Stream<Arguments> unfinishedResults() {
		return Stream.of(Arguments.of(new CompletableFuture<>(), "Use executeAsync"),
				Arguments.of(new CompletableFuture<>().minimalCompletionStage(), "Use executeAsync"),
				Arguments.of(new FutureTask<>(() -> "later"), "Use executeAsync"),
				Arguments.of(Optional.of(new CompletableFuture<>()), "Use executeAsync"),
				Arguments.of(ResponseEntity.ok(new CompletableFuture<>()), "Use executeAsync"),
				Arguments.of(Mono.just("later"), "Use ReactiveLockTemplate"),
				Arguments.of(Flux.just("later"), "Use ReactiveLockTemplate"),
				Arguments.of((Publisher<String>) Mono.just("later")::subscribe, "Use ReactiveLockTemplate"),
				Arguments.of((Callable<String>) () -> "later", "Finish the work in the action"),
				Arguments.of(List.of("later").iterator(), "Finish the work in the action"));
	}

	@ParameterizedTest
	@MethodSource("unfinishedResults")
	void asynchronousResultIsRefusedAndTheLockReleased(Object result, String advice) {
		assertThatIllegalStateException().isThrownBy(() -> this.template.<Object>execute("a", () -> result))
			.withMessageContaining("under the lock 'a' returned a ")
			.withMessageContaining("The result was discarded")
			.withMessageEndingWith(
					advice + (advice.startsWith("Use")
							? ", which holds the lock until "
									+ (advice.contains("Async") ? "a CompletionStage completes" : "the sequence ends")
							: ""));
		assertThat(isHeld("a")).isFalse();
		assertThatIllegalStateException()
			.isThrownBy(() -> this.template.<Object>executeAll(List.of("a", "b"), () -> result));
		assertThat(isHeld("a")).isFalse();
	}

	@Test
	void streamThatIsRefusedIsClosed() {
		AtomicBoolean closed = new AtomicBoolean();
		assertThatIllegalStateException()
			.isThrownBy(() -> this.template.execute("a", () -> Stream.of("later").onClose(() -> closed.set(true))));
		assertThat(closed).isTrue();
	}

	@Test
	void futureThatHasCompletedDidItsWorkUnderTheLock() {
		CompletableFuture<String> failed = CompletableFuture.failedFuture(new IOException("scripted"));
		assertThat(this.template.execute("a", () -> CompletableFuture.completedFuture("done"))).isDone();
		assertThat(this.template.execute("a", () -> failed)).isSameAs(failed);
	}

	@Test
	void resultOfAFallbackNeedsNoLock() {
		this.world.seize("a", Duration.ofSeconds(30));
		CompletableFuture<String> future = new CompletableFuture<>();
		assertThat(this.template.<CompletableFuture<String>>execute("a", LockOptions.defaults(), CompletableFuture::new,
				(refusal) -> future))
			.isSameAs(future);
	}

	@Test
	void resultOfReenteredWorkIsLeftToTheWorkAround() {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletableFuture<String> result = this.template
			.<String>executeAsync("a", LockOptions.defaults(), () -> this.template.execute("a", () -> work),
					(refusal) -> work)
			.toCompletableFuture();
		assertThat(isHeld("a")).isTrue();
		work.complete("done");
		assertThat(result).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("done");
	}

	@Test
	void futureUnderTheSameLocksKeepsThemAndOneUnderAnotherDoesNot() {
		CompletableFuture<String> work = new CompletableFuture<>();
		CompletionStage<String> result = this.template.executeAll(List.of("a", "b"),
				() -> this.template.forAll(LockOptions.forEach(List.of("b", "a"), LockOptions.defaults()))
					.<String>executeAsync("both", LockOptions.defaults(), () -> work, (refusal) -> work));
		assertThat(isHeld("a") && isHeld("b")).isTrue();
		assertThatIllegalStateException().isThrownBy(() -> this.template.execute("c",
				() -> this.template.<String>executeAsync("d", LockOptions.defaults(), () -> work, (refusal) -> work)));
		assertThat(isHeld("c")).isFalse();
		assertThatIllegalStateException().as("a future under one of two locks")
			.isThrownBy(() -> this.template.executeAll(List.of("c", "e"), () -> this.template.<String>executeAsync("c",
					LockOptions.defaults(), () -> work, (refusal) -> work)));
		work.complete("done");
		assertThat(result.toCompletableFuture()).succeedsWithin(Duration.ofSeconds(60)).isEqualTo("done");
		assertThat(isHeld("a") || isHeld("b")).isFalse();
	}

}
