package dev.dblock.execution;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockHandles;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockRefusal;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.core.LockWorld;
import dev.dblock.core.Worker;
import dev.dblock.engine.HeldLock;
import dev.dblock.engine.LockEngine;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.test.util.ReflectionTestUtils;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doAnswer;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

/**
 * Work that continues after the call that started it.
 */
@Timeout(300)
class LockedFutureTests {

	private final LockWorld world = new LockWorld();

	private final DefaultLockTemplate template = this.world.template();

	private final CompletableFuture<String> work = new CompletableFuture<>();

	@AfterEach
	void close() {
		assertThat(LockContext.current()).isEmpty();
		assertThat(Thread.interrupted()).isFalse();
		this.world.close();
	}

	private boolean isHeld() {
		return this.template.inspect("a").filter(LockInfo::held).isPresent();
	}

	private CompletableFuture<String> begin(LockOptions options, CompletionStage<String> stage) {
		return this.template.<String>executeAsync("a", options, () -> stage, (refusal) -> refused(refusal))
			.toCompletableFuture();
	}

	private CompletableFuture<String> begin(CompletionStage<String> stage) {
		return begin(LockOptions.defaults(), stage);
	}

	private static CompletionStage<String> refused(LockRefusal refusal) {
		return CompletableFuture.failedFuture(refusal.toException());
	}

	private static Throwable failure(CompletableFuture<?> future) throws Exception {
		try {
			throw new AssertionError("completed with " + future.get(60, TimeUnit.SECONDS));
		}
		catch (ExecutionException ex) {
			return ex.getCause();
		}
	}

	private void lose() {
		this.world.clock().advance(Duration.ofSeconds(30));
	}

	@Test
	void lockIsHeldUntilTheWorkHasCompletedAndReleasedBeforeTheCallerSeesTheResult() throws Exception {
		AtomicBoolean heldWhenNotified = new AtomicBoolean(true);
		CompletableFuture<String> result = begin(this.work);
		CompletableFuture<Void> notified = result.thenAccept((value) -> heldWhenNotified.set(isHeld()));
		assertThat(isHeld()).isTrue();
		assertThat(result).isNotDone();
		this.work.complete("done");
		assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("done");
		notified.get(60, TimeUnit.SECONDS);
		assertThat(heldWhenNotified).isFalse();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void workIsBegunInTheCallingThreadUnderTheLock() {
		AtomicReference<String> name = new AtomicReference<>();
		CompletionStage<String> result = this.template.<String>executeAsync("a", LockOptions.defaults(), () -> {
			name.set(LockContext.current().orElseThrow().name());
			return CompletableFuture.completedStage("done");
		}, LockedFutureTests::refused);
		assertThat(name).hasValue("a");
		assertThat(result.toCompletableFuture()).isCompletedWithValue("done");
		assertThat(isHeld()).isFalse();
	}

	@Test
	void failureOfTheWorkIsTheCallers() throws Exception {
		CompletableFuture<String> result = begin(this.work);
		IllegalStateException scripted = new IllegalStateException("scripted");
		this.work.completeExceptionally(scripted);
		assertThat(failure(result)).isSameAs(scripted);
		assertThat(isHeld()).isFalse();
		assertThat(failure(begin(CompletableFuture.failedFuture(scripted)))).isSameAs(scripted);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void exceptionBeforeThereIsAFutureIsThrown() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.template.<String>executeAsync("a", LockOptions.defaults(), () -> {
				throw new IllegalStateException("scripted");
			}, LockedFutureTests::refused))
			.withMessage("scripted");
		assertThat(isHeld()).isFalse();
	}

	@Test
	void noFutureAtAllEndsTheWork() {
		assertThat(
				this.template.<String>executeAsync("a", LockOptions.defaults(), () -> null, LockedFutureTests::refused))
			.isNull();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void stageThatCannotBeFollowedFails() throws Exception {
		CompletableFuture<String> broken = new CompletableFuture<>() {

			@Override
			public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
				throw new IllegalStateException("scripted");
			}

		};
		assertThat(failure(begin(broken))).hasMessage("scripted");
		assertThat(isHeld()).isFalse();
	}

	@Test
	void nameAndOptionsThatCannotBeAreThrown() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.template.<String>executeAsync(" ",
				LockOptions.defaults(), () -> this.work, (refusal) -> null));
		assertThatIllegalArgumentException().isThrownBy(() -> begin(LockOptions.lease(Duration.ofMillis(1)), this.work))
			.withMessageContaining("too short");
	}

	@Test
	void workIsNotBegunWhileTheLockIsTaken() throws Exception {
		this.world.seize("a", Duration.ofSeconds(30));
		assertThat(failure(begin(this.work))).isInstanceOf(LockUnavailableException.class);
	}

	@Test
	void errorOfTheStoreIsInTheFuture() throws Exception {
		this.template.acquire("b").close();
		this.world.close();
		assertThat(failure(begin(this.work))).isInstanceOf(LockShutdownException.class);
	}

	@Test
	void lossIsReportedAtOnce() throws Exception {
		CompletableFuture<String> result = begin(this.work);
		lose();
		assertThat(failure(result)).isInstanceOf(LockLostException.class);
		assertThat(this.work).isNotDone();
		this.work.complete("too late");
		assertThat(failure(result)).isInstanceOf(LockLostException.class);
	}

	@Test
	void maximumHoldEndsWhatNeverCompletes() throws Exception {
		CompletableFuture<String> result = begin(LockOptions.defaults().maxHold(Duration.ofSeconds(40)), this.work);
		LockWorld.eventually().until(() -> {
			this.world.clock().advance(Duration.ofSeconds(1));
			return result.isDone();
		});
		assertThat(failure(result)).isInstanceOfSatisfying(LockLostException.class,
				(lost) -> assertThat(lost.reason()).isEqualTo(LossReason.MAX_HOLD));
		assertThat(this.world.anotherProcess().tryAcquire("a")).isPresent();
	}

	@Test
	void lossCancelsTheWorkWhereThatWasAskedFor() throws Exception {
		CompletableFuture<String> result = begin(LockOptions.defaults().whenLost(WhenLost.INTERRUPT), this.work);
		lose();
		assertThat(failure(result)).isInstanceOf(LockLostException.class);
		await().atMost(Duration.ofSeconds(60)).until(this.work::isCancelled);
		CompletableFuture<String> other = begin(LockOptions.defaults().whenLost(WhenLost.INTERRUPT),
				new CompletableFuture<String>().minimalCompletionStage());
		lose();
		assertThat(failure(other)).isInstanceOf(LockLostException.class);
	}

	@Test
	void lossCancelsTheWorkWhileDependentsOfTheResultBlock() {
		CountDownLatch end = new CountDownLatch(1);
		begin(LockOptions.defaults().whenLost(WhenLost.INTERRUPT), this.work)
			.whenComplete((result, failure) -> awaitQuietly(end));
		lose();
		await().atMost(Duration.ofSeconds(60)).until(this.work::isCancelled);
		end.countDown();
	}

	@Test
	void lossOfInnerWorkReachesTheOuterWhileDependentsOfTheInnerBlock() throws Exception {
		CountDownLatch end = new CountDownLatch(1);
		AtomicReference<CompletableFuture<String>> inner = new AtomicReference<>();
		CompletableFuture<String> outer = this.template.<String>executeAsync("outer", LockOptions.defaults(), () -> {
			inner.set(begin(this.work));
			return inner.get();
		}, LockedFutureTests::refused).toCompletableFuture();
		inner.get().whenComplete((result, failure) -> awaitQuietly(end));
		this.world.rob("a");
		this.world.advance(Duration.ofSeconds(11));
		assertThat(failure(outer)).isInstanceOf(LockLostException.class).hasMessageContaining("'a'");
		end.countDown();
	}

	private static void awaitQuietly(CountDownLatch latch) {
		try {
			assertThat(latch.await(120, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Test
	void lossThatTheReleaseFindsOutranksTheResult() throws Exception {
		CompletableFuture<String> result = begin(LockOptions.defaults().autoRenew(false), this.work);
		this.template.forceReleaseNow("a");
		this.world.seize("a", Duration.ofSeconds(30));
		this.work.completeExceptionally(new IllegalStateException("scripted"));
		assertThat(failure(result)).isInstanceOf(LockLostException.class)
			.satisfies((lost) -> assertThat(lost.getSuppressed()).singleElement()
				.extracting("message")
				.isEqualTo("scripted"));
	}

	@Test
	void lossThatTheReleaseFindsIsReportedWithTheOutcomeOfTheWork() throws Exception {
		LockHandle handle = mock(LockHandle.class);
		CompletableFuture<Consumer<LossReason>> news = new CompletableFuture<>();
		CompletableFuture<Boolean> completedBefore = new CompletableFuture<>();
		LockLostException lost = new LockLostException("a", 1, LossReason.TAKEN_OVER);
		doAnswer((call) -> news.complete(call.getArgument(0))).when(handle).onLost(any());
		doThrow(lost).when(handle).ensureHeld();
		CompletableFuture<String> result = LockedFuture
			.<String>until(Hold.owned(mock(LockEngine.class), handle), true, false, () -> this.work, (value) -> {
			})
			.toCompletableFuture();
		doAnswer((call) -> {
			news.join().accept(LossReason.TAKEN_OVER);
			completedBefore.complete(isDoneSoon(result));
			throw lost;
		}).when(handle).close();
		AssertionError scripted = new AssertionError("scripted");
		this.work.completeExceptionally(scripted);
		assertThat(failure(result)).isSameAs(scripted).hasSuppressedException(lost);
		assertThat(completedBefore).isCompletedWithValue(false);
	}

	/**
	 * Leaves some time for an event that must not happen.
	 */
	private static boolean isDoneSoon(CompletableFuture<?> future) {
		try {
			future.handle((result, failure) -> true).get(300, TimeUnit.MILLISECONDS);
			return true;
		}
		catch (TimeoutException ex) {
			return false;
		}
		catch (InterruptedException | ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void cancelledByItsCallerTheLockIsHeldUntilTheWorkHasEnded() throws Exception {
		CompletableFuture<String> result = begin(this.work);
		assertThat(result.cancel(true)).isTrue();
		assertThat(result.cancel(true)).isTrue();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(result::get);
		assertThat(this.work).isNotDone();
		assertThat(isHeld()).isTrue();
		this.work.complete("done");
		LockWorld.eventually().until(() -> !isHeld());
	}

	@Test
	void cancellationReachesWorkThatKnowsHowToStop() {
		AtomicBoolean stopped = new AtomicBoolean();
		CompletableFuture<String> stoppable = new CompletableFuture<>() {

			@Override
			public boolean cancel(boolean mayInterruptIfRunning) {
				stopped.set(mayInterruptIfRunning);
				return super.cancel(mayInterruptIfRunning);
			}

		};
		begin(stoppable).cancel(false);
		assertThat(stopped).isTrue();
		LockWorld.eventually().until(() -> !isHeld());
	}

	@Test
	void stageThatOnlyShowsItsEndIsNotCancelled() {
		CompletableFuture<String> result = begin(this.work.minimalCompletionStage());
		assertThat(result.cancel(true)).isTrue();
		assertThat(isHeld()).isTrue();
		this.work.complete("done");
		LockWorld.eventually().until(() -> !isHeld());
	}

	@Test
	void workThatIsCancelledIsOver() {
		CompletableFuture<String> result = begin(this.work);
		this.work.cancel(true);
		LockWorld.eventually().until(result::isCancelled);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void dependentOfTheResultIsAnOrdinaryFuture() {
		assertThat(begin(this.work).thenApply(String::length).getClass()).isEqualTo(CompletableFuture.class);
		this.work.complete("done");
	}

	@Test
	void workThatIsBegunUnderTheSameLockOutlivesTheOuter() throws Exception {
		CompletableFuture<String> result = this.template.execute("a", () -> begin(this.work));
		assertThat(isHeld()).isTrue();
		assertThat(this.world.anotherProcess().tryAcquire("a")).isEmpty();
		this.work.complete("done");
		assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(isHeld()).isFalse();
	}

	@Test
	void workThatIsBegunUnderTheSameLockMayEndFirst() throws Exception {
		this.template.execute("a", () -> {
			CompletableFuture<String> result = begin(this.work);
			this.work.complete("done");
			assertThat(result.join()).isEqualTo("done");
			assertThat(isHeld()).isTrue();
		});
		assertThat(isHeld()).isFalse();
	}

	@Test
	void lossIsReportedToAllWorkUnderTheLock() throws Exception {
		AtomicReference<CompletableFuture<String>> inner = new AtomicReference<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute("a", () -> {
			inner.set(begin(this.work));
			lose();
		}));
		assertThat(failure(inner.get())).isInstanceOf(LockLostException.class);
	}

	@Test
	void workThatHasEndedIsNotKeptForANewsOfALoss() throws Exception {
		AtomicReference<Hold> hold = new AtomicReference<>();
		AtomicReference<CompletableFuture<String>> last = new AtomicReference<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.execute("a", () -> {
			hold.set(WorkScope.find(this.template.engine(), "a"));
			for (int i = 0; i < 10; i++) {
				CompletableFuture<String> ending = new CompletableFuture<>();
				CompletableFuture<String> result = begin(ending);
				ending.complete("done");
				assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("done");
			}
			LockWorld.eventually()
				.untilAsserted(() -> assertThat(hold.get()).extracting("lossCallbacks")
					.asInstanceOf(InstanceOfAssertFactories.COLLECTION)
					.isEmpty());
			last.set(begin(this.work));
			lose();
			assertThat(failure(last.get())).isInstanceOf(LockLostException.class);
			return "too late";
		}));
	}

	@Test
	void handleThatIsHeldForLongKeepsNothingOfWorkThatHasEnded() throws Exception {
		LockHandle handle = this.template.acquire("a");
		for (int i = 0; i < 3; i++) {
			CompletableFuture<String> ending = new CompletableFuture<>();
			CompletableFuture<String> call = CompletableFuture
				.supplyAsync(() -> this.template.within(handle, () -> begin(ending).join()));
			LockWorld.eventually().untilAsserted(() -> assertThat(callbacks(handle)).isOne());
			ending.complete("done");
			assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo("done");
			LockWorld.eventually().untilAsserted(() -> assertThat(callbacks(handle)).isZero());
		}
		CompletableFuture<String> last = CompletableFuture
			.supplyAsync(() -> this.template.within(handle, () -> begin(this.work).join()));
		LockWorld.eventually().until(() -> callbacks(handle) == 1);
		lose();
		assertThat(failure(last)).isInstanceOf(LockLostException.class);
	}

	@Test
	void threadThatLocksForLongKeepsNothingOfWorkThatHasEnded() {
		Lock lock = this.template.asLock("a");
		lock.lock();
		LockHandle handle = LockContext.current("a").orElseThrow();
		for (int i = 0; i < 3; i++) {
			CompletableFuture<String> ending = new CompletableFuture<>();
			CompletableFuture<Void> end = CompletableFuture.runAsync(() -> {
				LockWorld.eventually().untilAsserted(() -> assertThat(callbacks(handle)).isOne());
				ending.complete("done");
			});
			assertThat(begin(ending)).isCompletedWithValue("done");
			assertThat(end).succeedsWithin(Duration.ofSeconds(60));
			LockWorld.eventually().untilAsserted(() -> assertThat(callbacks(handle)).isZero());
		}
		lock.unlock();
	}

	@Test
	void workThatEndsAsAHandleGetsToKnowOfItIsNotKept() {
		LockEngine engine = mock(LockEngine.class);
		HeldLock handle = mock(HeldLock.class);
		Hold hold = Hold.borrowed(engine, handle);
		List<Consumer<LossReason>> known = new ArrayList<>();
		Consumer<LossReason> news = (reason) -> {
		};
		doAnswer((call) -> {
			hold.forget(news);
			return known.add(call.getArgument(0));
		}).when(handle).onLost(any());
		doAnswer((call) -> known.remove(call.<Consumer<LossReason>>getArgument(0))).when(handle).forget(any());
		hold.onLost(news);
		assertThat(known).isEmpty();
	}

	@Test
	void severalLocksThatWereReleasedLeaveNothingWithALockAroundThem() {
		LockHandle handle = this.template.acquire("a");
		this.template.<@Nullable Void>within(handle, () -> {
			LockHandles several = this.template.acquireAll("a", "b");
			several.onLost((reason) -> {
			});
			assertThat(callbacks(handle)).isOne();
			several.close();
			assertThat(callbacks(handle)).isZero();
			several.onLost((reason) -> {
			});
			assertThat(callbacks(handle)).isZero();
			return null;
		});
		assertThat(handle.release()).isTrue();
	}

	private static int callbacks(LockHandle handle) {
		synchronized (handle) {
			return ((Collection<?>) ReflectionTestUtils.getField(handle, "lostCallbacks")).size();
		}
	}

	@Test
	void workUnderALockThatOthersReleaseIsWaitedFor() throws Exception {
		LockHandle handle = this.template.acquire("a");
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<String> call = CompletableFuture.supplyAsync(() -> this.template.within(handle, () -> {
			begun.countDown();
			return begin(this.work).join();
		}));
		begun.await();
		assertThat(call).isNotDone();
		this.work.complete("done");
		assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(handle.release()).isTrue();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.within(handle, () -> "work"));
	}

	@Test
	void waitForWorkUnderALockThatOthersReleaseEndsWithTheLock() throws Exception {
		LockHandle handle = this.template.acquire("a");
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<String> call = CompletableFuture.supplyAsync(() -> this.template.within(handle,
				() -> this.template.<String>executeAsync("a", LockOptions.defaults(), () -> {
					begun.countDown();
					return this.work;
				}, LockedFutureTests::refused).toCompletableFuture().join()));
		begun.await();
		lose();
		assertThat(failure(call)).isInstanceOf(LockLostException.class);
		assertThat(this.work).isNotDone();
	}

	@Test
	void lossOfTheLockOfInnerWorkDoesNotEndTheOuterLock() throws Exception {
		CompletableFuture<String> outer = this.template
			.<String>executeAsync("outer", LockOptions.defaults(), () -> begin(this.work), LockedFutureTests::refused)
			.toCompletableFuture();
		this.world.rob("a");
		this.world.advance(Duration.ofSeconds(11));
		assertThat(failure(outer)).isInstanceOf(LockLostException.class).hasMessageContaining("'a'");
		assertThat(this.template.inspect("outer")).hasValueSatisfying((info) -> assertThat(info.held()).isTrue());
		this.work.complete("done");
		LockWorld.eventually().until(() -> this.template.inspect("outer").filter(LockInfo::held).isEmpty());
	}

	@Test
	void outcomeOfInnerWorkIsThatOfTheOuter() throws Exception {
		CompletableFuture<String> outer = this.template
			.<String>executeAsync("outer", LockOptions.defaults(), () -> begin(this.work), LockedFutureTests::refused)
			.toCompletableFuture();
		this.work.complete("done");
		assertThat(outer.get(60, TimeUnit.SECONDS)).isEqualTo("done");
		assertThat(this.template.inspect("outer").filter(LockInfo::held)).isEmpty();
		CompletableFuture<String> over = this.template
			.<String>executeAsync("outer", LockOptions.defaults(), () -> begin(this.work), LockedFutureTests::refused)
			.toCompletableFuture();
		assertThat(over).isCompletedWithValue("done");
	}

	@Test
	void workElsewhereLearnsOfALossWhenItCompletes() {
		LockHandle handle = this.template.acquire("a");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.within(handle, () -> {
			lose();
			return "too late";
		}));
		LockHandle other = this.template.acquire("b");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.template.within(other, () -> {
			lose();
			throw new IllegalStateException("scripted");
		})).satisfies((lost) -> assertThat(lost.getSuppressed()).hasSize(1));
	}

	@Test
	void workElsewhereIsFoundInItsOwnThread() throws Exception {
		LockHandle handle = this.template.acquire("a");
		assertThat(LockContext.current()).isEmpty();
		LockHandle found = CompletableFuture
			.supplyAsync(() -> this.template.within(handle, () -> LockContext.current("a").orElseThrow()))
			.get(60, TimeUnit.SECONDS);
		assertThat(found).isSameAs(handle);
		String result = this.template.within(handle, () -> this.template.execute("a", () -> "re-entered"));
		assertThat(result).isEqualTo("re-entered");
		assertThat(handle.release()).isTrue();
	}

	@Test
	void threadThatBeganTheWorkHasNothingMoreToDoWithTheLock() throws Exception {
		CompletableFuture<String> result = begin(LockOptions.defaults().whenLost(WhenLost.INTERRUPT), this.work);
		lose();
		assertThat(failure(result)).isInstanceOf(LockLostException.class);
		assertThat(Thread.currentThread().isInterrupted()).isFalse();
	}

	private CompletableFuture<String> begin(DefaultLockTemplate template, String name, CompletionStage<String> stage) {
		return template.<String>executeAsync(name, LockOptions.defaults(), () -> stage, LockedFutureTests::refused)
			.toCompletableFuture();
	}

	@Test
	void waitUnderALockOfOthersContinuesThoughInnerWorkLosesItsOwnLock() throws Exception {
		LockHandle handle = this.template.acquire("a");
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Void> call = CompletableFuture.runAsync(() -> {
			try (handle) {
				this.template.<Void>within(handle, () -> {
					CompletionStage<String> result = this.template.<String>executeAsync("a", LockOptions.defaults(),
							() -> {
								CompletableFuture<String> inner = begin(this.template, "b", this.work);
								begun.countDown();
								return inner;
							}, LockedFutureTests::refused);
					assertThat(result).isNotNull();
					return null;
				});
			}
		});
		begun.await();
		this.world.rob("b");
		this.world.advance(Duration.ofSeconds(11));
		assertThatExceptionOfType(TimeoutException.class).as("the work goes on, and was begun under 'a'")
			.isThrownBy(() -> call.get(3, TimeUnit.SECONDS));
		assertThat(isHeld()).isTrue();
		this.work.complete("done");
		call.get(60, TimeUnit.SECONDS);
	}

	/**
	 * On some JDKs, {@code join()} in a thread of the common pool runs another of its
	 * tasks.
	 */
	@Test
	void noOtherTaskRunsUnderTheLockWhileWorkUnderALockOfOthersIsWaitedFor() throws Exception {
		LockHandle handle = this.template.acquire("a");
		List<CompletableFuture<Boolean>> others = new ArrayList<>();
		CompletableFuture<Thread> waiting = new CompletableFuture<>();
		CompletableFuture<Void> call = CompletableFuture.runAsync(() -> {
			try (handle) {
				this.template.<Void>within(handle, () -> {
					for (int i = 0; i < 20; i++) {
						others.add(CompletableFuture.supplyAsync(() -> LockContext.current("a").isPresent()));
					}
					waiting.complete(Thread.currentThread());
					begin(this.work);
					return null;
				});
			}
		});
		Thread waiter = waiting.get(60, TimeUnit.SECONDS);
		LockWorld.eventually()
			.until(() -> waiter.getState() == Thread.State.WAITING
					|| others.stream().allMatch(CompletableFuture::isDone));
		this.work.complete("done");
		call.get(60, TimeUnit.SECONDS);
		for (CompletableFuture<Boolean> other : others) {
			assertThat(other.get(60, TimeUnit.SECONDS)).isFalse();
		}
	}

	@Test
	void workThatNeedsAThreadOfTheWaitingPoolGetsOne() throws Exception {
		ForkJoinPool pool = new ForkJoinPool(1);
		try {
			LockHandle handle = this.template.acquire("a");
			CompletableFuture<String> call = CompletableFuture.supplyAsync(() -> {
				try (handle) {
					return this.template.within(handle,
							() -> begin(CompletableFuture.supplyAsync(() -> "done", pool)).join());
				}
			}, pool);
			assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo("done");
		}
		finally {
			pool.shutdownNow();
		}
	}

	@Test
	void workIsWaitedForThoughThePoolOfTheWaitingThreadIsShutDown() throws Exception {
		ForkJoinPool pool = new ForkJoinPool(1);
		LockHandle handle = this.template.acquire("a");
		CompletableFuture<Thread> waiting = new CompletableFuture<>();
		CompletableFuture<Boolean> call = CompletableFuture.supplyAsync(() -> {
			waiting.complete(Thread.currentThread());
			try (handle) {
				this.template.<Void>within(handle, () -> {
					begin(this.work);
					return null;
				});
			}
			return Thread.interrupted();
		}, pool);
		Thread waiter = waiting.get(60, TimeUnit.SECONDS);
		LockWorld.eventually().until(() -> waiter.getState() == Thread.State.WAITING);
		pool.shutdownNow();
		// It neither ends nor runs on
		LockWorld.eventually()
			.during(Duration.ofMillis(500))
			.until(() -> call.isDone() || waiter.getState() == Thread.State.WAITING);
		assertThat(isHeld()).isTrue();
		this.work.complete("done");
		assertThat(call.get(60, TimeUnit.SECONDS)).isTrue();
	}

	@Test
	void workUnderALockOfOthersIsWaitedForThoughTheThreadIsInterrupted() throws Exception {
		LockHandle handle = this.template.acquire("a");
		Worker<Boolean> worker = Worker.start(() -> {
			try (handle) {
				this.template.<Void>within(handle, () -> {
					begin(this.work);
					return null;
				});
			}
			return Thread.interrupted();
		});
		worker.awaitWaiting();
		worker.interrupt();
		worker.awaitWaiting();
		assertThat(isHeld()).isTrue();
		this.work.complete("done");
		assertThat(worker.result()).isTrue();
	}

	@Test
	void interruptOfOtherCodeIsPreservedThoughALossInterruptsTheWaitAfterIt() throws Exception {
		Worker<Boolean> worker = Worker.start(() -> {
			LockHandle handle = this.template.acquire("a", LockOptions.defaults().whenLost(WhenLost.INTERRUPT));
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.template.<Void>within(handle, () -> {
					begin(this.work);
					return null;
				}));
			assertThat(handle.release()).isFalse();
			return Thread.interrupted();
		});
		worker.awaitWaiting();
		worker.interrupt();
		worker.awaitWaiting();
		lose();
		assertThat(worker.result()).isTrue();
	}

	/**
	 * On some JDKs, a wait in a thread of such a pool throws an exception though the
	 * thread is not interrupted.
	 */
	@Test
	void interruptThatWasHandledDoesNotComeBackInAPoolThatIsShutDown() throws Exception {
		ForkJoinPool pool = new ForkJoinPool(1);
		LockHandle handle = this.template.acquire("a");
		CountDownLatch started = new CountDownLatch(1);
		CountDownLatch shutDown = new CountDownLatch(1);
		CompletableFuture<Thread> waiting = new CompletableFuture<>();
		CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
		pool.execute(() -> {
			started.countDown();
			while (shutDown.getCount() > 0) {
				Thread.onSpinWait();
			}
			Thread.interrupted();
			try (handle) {
				this.template.<Void>within(handle, () -> {
					waiting.complete(Thread.currentThread());
					begin(this.work);
					return null;
				});
			}
			interrupted.complete(Thread.interrupted());
		});
		started.await();
		pool.shutdownNow();
		shutDown.countDown();
		Thread waiter = waiting.get(60, TimeUnit.SECONDS);
		LockWorld.eventually().until(() -> waiter.getState() == Thread.State.WAITING);
		this.work.complete("done");
		assertThat(interrupted.get(60, TimeUnit.SECONDS)).isFalse();
	}

	@Test
	void workThatNeedsAThreadOfAPoolThatIsClosedInOrderGetsOne() throws Exception {
		ForkJoinPool pool = new ForkJoinPool(1);
		LockHandle handle = this.template.acquire("a");
		CountDownLatch closed = new CountDownLatch(1);
		CompletableFuture<String> call = CompletableFuture.supplyAsync(() -> {
			closed.countDown();
			LockWorld.eventually().until(pool::isShutdown);
			try (handle) {
				return this.template.within(handle,
						() -> begin(CompletableFuture.supplyAsync(() -> "done", pool)).join());
			}
		}, pool);
		closed.await();
		pool.shutdown();
		assertThat(call.get(60, TimeUnit.SECONDS)).isEqualTo("done");
	}

	/**
	 * They would occupy one of the few threads that all virtual threads share.
	 */
	@Test
	void whatFollowsTheWorkDoesNotRunInAVirtualThread() throws Exception {
		CompletableFuture<Boolean> virtual = begin(this.work).thenApply((result) -> isVirtual(Thread.currentThread()));
		this.work.complete("done");
		assertThat(virtual.get(60, TimeUnit.SECONDS)).isFalse();
	}

	private static boolean isVirtual(Thread thread) {
		Method method = ReflectionUtils.findMethod(Thread.class, "isVirtual");
		return method != null && Boolean.TRUE.equals(ReflectionUtils.invokeMethod(method, thread));
	}

	@Test
	void workUnderALockOfOthersIsWaitedForThoughItLosesAnotherOfItsLocks() throws Exception {
		Map<String, LockOptions> both = Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults());
		LockHandle handle = this.template.acquire("a");
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Void> call = CompletableFuture.runAsync(() -> {
			try (handle) {
				this.template.<Void>within(handle, () -> {
					CompletionStage<String> result = this.template.forAll(both)
						.<String>executeAsync("both", LockOptions.defaults(), () -> {
							begun.countDown();
							return this.work;
						}, LockedFutureTests::refused);
					assertThat(result).isNotNull();
					return null;
				});
			}
		});
		begun.await();
		this.world.rob("b");
		this.world.advance(Duration.ofSeconds(11));
		assertThatExceptionOfType(TimeoutException.class).as("the work goes on under 'a'")
			.isThrownBy(() -> call.get(3, TimeUnit.SECONDS));
		assertThat(isHeld()).isTrue();
		this.work.complete("done");
		call.get(60, TimeUnit.SECONDS);
	}

	@Test
	void workUnderTwoLocksOfOthersIsWaitedForUntilBothAreLost() throws Exception {
		Map<String, LockOptions> both = Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults());
		LockHandle a = this.template.acquire("a");
		LockHandle b = this.template.acquire("b");
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Void> call = CompletableFuture
			.runAsync(() -> this.template.within(a, () -> this.template.within(b, () -> {
				CompletionStage<String> result = this.template.forAll(both)
					.<String>executeAsync("both", LockOptions.defaults(), () -> {
						begun.countDown();
						return this.work;
					}, LockedFutureTests::refused);
				assertThat(result).isNotNull();
				return null;
			})));
		begun.await();
		this.world.rob("b");
		this.world.advance(Duration.ofSeconds(11));
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> call.get(3, TimeUnit.SECONDS));
		assertThat(a.isHeld()).isTrue();
		lose();
		assertThat(failure(call)).isInstanceOf(LockLostException.class);
		assertThat(this.work).isNotDone();
	}

	@Test
	void workUnderSeveralLocksOfWhichOthersGiveOneBackIsWaitedFor() throws Exception {
		Map<String, LockOptions> both = Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults());
		LockHandle handle = this.template.acquire("a");
		CompletableFuture<Void> call = CompletableFuture.runAsync(() -> {
			try (handle) {
				this.template.within(handle, () -> begin(this.template.forAll(both), "both", this.work));
			}
		});
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> call.get(3, TimeUnit.SECONDS));
		assertThat(isHeld()).isTrue();
		this.work.complete("done");
		call.get(60, TimeUnit.SECONDS);
	}

}
