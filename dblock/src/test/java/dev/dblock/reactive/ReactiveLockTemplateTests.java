package dev.dblock.reactive;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Lock;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenLost;
import dev.dblock.core.LockWorld;
import dev.dblock.execution.DefaultLockTemplate;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionSynchronizationUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@Timeout(300)
class ReactiveLockTemplateTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final LockOptions PATIENT = LockOptions.defaults().waitUpTo(Duration.ofDays(1));

	private static final LockOptions INTERRUPT = LockOptions.defaults().whenLost(WhenLost.INTERRUPT);

	private final LockWorld world = new LockWorld();

	private final DefaultLockTemplate template = this.world.template();

	private final ReactiveLockTemplate locks = new ReactiveLockTemplate(this.template.engine());

	@AfterEach
	void close() {
		assertThat(LockContext.current()).isEmpty();
		this.world.close();
	}

	private boolean isHeld() {
		return this.template.inspect("a").filter(LockInfo::held).isPresent();
	}

	private void lose() {
		this.world.clock().advance(Duration.ofSeconds(30));
	}

	private <T> Mono<T> mono(LockOptions options, Mono<T> work) {
		return this.locks.execute("a", options, () -> work, (refusal) -> Mono.error(refusal.toException()));
	}

	private <T> Flux<T> flux(LockOptions options, Flux<T> work) {
		return this.locks.executeMany("a", options, () -> work, (refusal) -> Flux.error(refusal.toException()));
	}

	@Test
	void nothingHappensBeforeASubscription() {
		AtomicInteger made = new AtomicInteger();
		Mono<Integer> locked = this.locks.execute("a", () -> Mono.just(made.incrementAndGet()));
		assertThat(isHeld()).isFalse();
		assertThat(made).hasValue(0);
		assertThat(locked.block(LONG)).isOne();
		assertThat(locked.block(LONG)).isEqualTo(2);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void lockIsAcquiredBeforeTheWorkAndReleasedBeforeTheSubscriberIsNotified() {
		List<Boolean> held = new ArrayList<>();
		String result = this.locks.execute("a", () -> {
			held.add(isHeld());
			held.add(LockContext.current("a").isPresent());
			return Mono.fromSupplier(() -> {
				held.add(isHeld());
				return "done";
			});
		}).doOnNext((value) -> held.add(isHeld())).block(LONG);
		assertThat(result).isEqualTo("done");
		assertThat(held).containsExactly(true, true, true, false);
	}

	@Test
	void lockIsNotInTheThreadThatReceivesTheResult() {
		AtomicReference<Boolean> found = new AtomicReference<>();
		this.locks.execute("a", () -> Mono.just("done"))
			.doOnNext((value) -> found.set(LockContext.current().isPresent()))
			.block(LONG);
		assertThat(found).hasValue(false);
	}

	@Test
	void lockSaysWhatItIsFor() {
		assertThat(this.locks.execute("a", () -> Mono.just(this.template.inspect("a").orElseThrow().why())).block(LONG))
			.isEqualTo("a reactive sequence");
		assertThat(mono(LockOptions.defaults().why("a test"),
				Mono.fromSupplier(() -> this.template.inspect("a").orElseThrow().why()))
			.block(LONG)).isEqualTo("a test");
	}

	@Test
	void subscriberIsNotBlocked() {
		AtomicReference<Thread> worker = new AtomicReference<>();
		this.locks.execute("a", () -> {
			worker.set(Thread.currentThread());
			return Mono.empty();
		}).block(LONG);
		assertThat(worker.get()).isNotSameAs(Thread.currentThread());
		assertThat(worker.get().getName()).startsWith("dblock-call-");
	}

	@Test
	void signalsThatMustNotBlockDoNot() {
		AtomicReference<String> releasing = new AtomicReference<>();
		flux(LockOptions.defaults(), Flux.just(1, 2).publishOn(Schedulers.parallel()))
			.doOnComplete(() -> releasing.set(Thread.currentThread().getName()))
			.blockLast(LONG);
		assertThat(releasing.get()).startsWith("dblock-call-");
	}

	@Test
	void handleIsInTheContext() {
		assertThat(ReactiveLockTemplate.current().blockOptional(LONG)).isEmpty();
		LockHandle handle = this.locks.execute("a", () -> ReactiveLockTemplate.current()).block(LONG);
		assertThat(handle.name()).isEqualTo("a");
		String inner = this.locks
			.execute("a",
					() -> this.locks.execute("b", () -> ReactiveLockTemplate.current().map(LockHandle::name))
						.zipWith(ReactiveLockTemplate.current().map(LockHandle::name), String::concat))
			.block(LONG);
		assertThat(inner).isEqualTo("ba");
	}

	@Test
	void elementsPassAsTheyAreRequested() {
		List<Integer> received = new CopyOnWriteArrayList<>();
		AtomicReference<Subscription> subscription = new AtomicReference<>();
		CountDownLatch completed = new CountDownLatch(1);
		List<Long> requested = new CopyOnWriteArrayList<>();
		Sinks.Many<Integer> sink = Sinks.many().unicast().onBackpressureBuffer();
		CountDownLatch begun = new CountDownLatch(1);
		flux(LockOptions.defaults(), sink.asFlux().doOnRequest((n) -> {
			requested.add(n);
			begun.countDown();
		})).subscribe(new BaseSubscriber<Integer>() {

			@Override
			protected void hookOnSubscribe(Subscription upstream) {
				subscription.set(upstream);
				upstream.request(1);
			}

			@Override
			protected void hookOnNext(Integer value) {
				received.add(value);
			}

			@Override
			protected void hookOnComplete() {
				completed.countDown();
			}

		});
		await(begun);
		sink.tryEmitNext(1);
		sink.tryEmitNext(2);
		sink.tryEmitNext(3);
		LockWorld.eventually().until(() -> !received.isEmpty());
		assertThat(received).containsExactly(1);
		subscription.get().request(2);
		LockWorld.eventually().untilAsserted(() -> assertThat(received).containsExactly(1, 2, 3));
		assertThat(isHeld()).isTrue();
		sink.tryEmitComplete();
		await(completed);
		assertThat(requested).containsExactly(1L, 2L);
		assertThat(isHeld()).isFalse();
	}

	@Test
	void failureEndsTheLock() {
		IllegalStateException scripted = new IllegalStateException("scripted");
		assertThatIllegalStateException()
			.isThrownBy(() -> mono(LockOptions.defaults(), Mono.error(scripted)).block(LONG))
			.isSameAs(scripted);
		assertThat(isHeld()).isFalse();
		assertThatIllegalStateException().isThrownBy(() -> this.locks.execute("a", () -> {
			throw scripted;
		}).block(LONG)).isSameAs(scripted);
		assertThat(isHeld()).isFalse();
		assertThatExceptionOfType(NullPointerException.class)
			.isThrownBy(() -> this.locks.execute("a", () -> null).block(LONG));
		assertThat(isHeld()).isFalse();
	}

	@Test
	void nameThatCannotBeIsAnError() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.locks.execute(" ", () -> Mono.just("done")).block(LONG));
	}

	@Test
	void refusalIsAnErrorOrWhatTheFallbackMakes() {
		this.world.seize("a", Duration.ofSeconds(30));
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.locks.execute("a", () -> Mono.just("done")).block(LONG));
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.locks.executeMany("a", () -> Flux.just("done")).blockLast(LONG));
		assertThat(
				this.locks.execute("a", LockOptions.defaults(), () -> Mono.just("done"), (refusal) -> Mono.just("not"))
					.block(LONG))
			.isEqualTo("not");
		assertThat(this.locks
			.<String>execute("a", LockOptions.defaults(), () -> Mono.just("done"), (refusal) -> Mono.empty())
			.blockOptional(LONG)).isEmpty();
	}

	@Test
	void cancellationReleasesTheLock() {
		AtomicBoolean cancelled = new AtomicBoolean();
		CountDownLatch begun = new CountDownLatch(1);
		Disposable subscription = flux(LockOptions.defaults(),
				Flux.never().doOnSubscribe((upstream) -> begun.countDown()).doOnCancel(() -> cancelled.set(true)))
			.subscribe();
		await(begun);
		assertThat(isHeld()).isTrue();
		subscription.dispose();
		LockWorld.eventually().until(() -> !isHeld());
		assertThat(cancelled).isTrue();
	}

	@Test
	void firstElementOfManyIsEnough() {
		assertThat(this.locks.executeMany("a", () -> Flux.just(1, 2, 3)).next().block(LONG)).isOne();
		LockWorld.eventually().until(() -> !isHeld());
	}

	@Test
	void sourceThatEmitsForEverAsItIsSubscribedToCanBeCancelled() {
		assertThat(this.locks.executeMany("a", () -> Flux.<Integer>generate((sink) -> sink.next(1))).next().block(LONG))
			.isOne();
		LockWorld.eventually().until(() -> !isHeld());
	}

	@Test
	void lossReachesASourceThatEmitsForEverAsItIsSubscribedTo() {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch cancelled = new CountDownLatch(1);
		CompletableFuture<Void> result = flux(INTERRUPT,
				Flux.<Integer>generate((sink) -> sink.next(1))
					.doOnNext((element) -> begun.countDown())
					.doOnCancel(cancelled::countDown))
			.then()
			.toFuture();
		await(begun);
		lose();
		assertThat(result).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
		await(cancelled);
	}

	@Test
	void lossIsReportedWhileTheMethodItselfIsRunning() {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		CompletableFuture<String> result = this.locks.<String>execute("a", INTERRUPT, () -> Mono.fromSupplier(() -> {
			begun.countDown();
			await(goOn);
			return "too late";
		}), (refusal) -> Mono.error(refusal.toException())).toFuture();
		await(begun);
		lose();
		assertThat(result).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
		goOn.countDown();
	}

	@Test
	void sourceThatCannotBeCancelledDoesNotKeepTheLock() {
		CountDownLatch begun = new CountDownLatch(1);
		Disposable subscription = flux(LockOptions.defaults(), uncancellable(begun)).subscribe();
		await(begun);
		subscription.dispose();
		LockWorld.eventually().until(() -> !isHeld());
	}

	@Test
	void lossIsReportedForASourceThatCannotBeCancelled() {
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Void> result = flux(INTERRUPT, uncancellable(begun)).then().toFuture();
		await(begun);
		lose();
		assertThat(result).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
	}

	@Test
	void lockIsNotInTheThreadThatReceivesElements() {
		List<Boolean> found = new CopyOnWriteArrayList<>();
		List<Long> tokens = this.locks.executeMany("a", () -> Flux.just(1, 2, 3))
			.doOnNext((element) -> found.add(LockContext.current().isPresent()))
			.flatMap((element) -> mono(PATIENT, ReactiveLockTemplate.current().map(LockHandle::token)))
			.collectList()
			.block(LONG);
		assertThat(found).containsExactly(false, false, false);
		assertThat(tokens).hasSize(3).doesNotHaveDuplicates();
	}

	@Test
	void cancelledWhileItWaitsItLeavesNothingBehind() throws Exception {
		LockHandle taken = this.template.acquire("a");
		AtomicBoolean run = new AtomicBoolean();
		Disposable waiting = this.locks.execute("a", PATIENT, () -> {
			run.set(true);
			return Mono.just("done");
		}, (refusal) -> Mono.error(refusal.toException())).subscribe();
		Mono<String> next = mono(PATIENT, Mono.just("next"));
		CompletableFuture<String> other = next.toFuture();
		waiting.dispose();
		taken.close();
		assertThat(other.get(60, TimeUnit.SECONDS)).isEqualTo("next");
		LockWorld.eventually().until(() -> !isHeld());
		assertThat(run).isFalse();
	}

	@Test
	void cancelledAtAnyMomentItLeavesNothingBehind() {
		for (int i = 0; i < 200; i++) {
			Disposable subscription = mono(PATIENT, Mono.just("done")).subscribe((value) -> {
			}, (ex) -> {
			});
			if (i % 2 == 0) {
				Thread.yield();
			}
			subscription.dispose();
		}
		assertThat(mono(PATIENT, Mono.just("last")).block(LONG)).isEqualTo("last");
		LockWorld.eventually().until(() -> !isHeld());
		assertThat(this.world.anotherProcess().tryAcquire("a")).isPresent();
	}

	@Test
	void lockIsNotReleasedWhileTheCancelledMethodIsRunning() {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch goOn = new CountDownLatch(1);
		AtomicBoolean heldAtTheEnd = new AtomicBoolean();
		Disposable subscription = this.locks.execute("a", () -> {
			begun.countDown();
			await(goOn);
			heldAtTheEnd.set(isHeld());
			return Mono.just("done");
		}).subscribe();
		await(begun);
		subscription.dispose();
		assertThat(isHeld()).isTrue();
		goOn.countDown();
		LockWorld.eventually().until(() -> !isHeld());
		assertThat(heldAtTheEnd).isTrue();
	}

	@Test
	void lossIsReportedOnCompletion() {
		Sinks.One<String> sink = Sinks.one();
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<String> result = mono(LockOptions.defaults(),
				sink.asMono().doOnSubscribe((upstream) -> begun.countDown()))
			.toFuture();
		await(begun);
		lose();
		assertThat(result).isNotDone();
		sink.tryEmitValue("done");
		assertThat(result).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
	}

	@Test
	void lossCancelsAndIsReportedAtOnceIfRequested() {
		AtomicBoolean cancelled = new AtomicBoolean();
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<Object> result = flux(INTERRUPT,
				Flux.never().doOnSubscribe((upstream) -> begun.countDown()).doOnCancel(() -> cancelled.set(true)))
			.next()
			.toFuture();
		await(begun);
		lose();
		assertThat(result).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
		assertThat(cancelled).isTrue();
	}

	@Test
	void lossOutranksAFailure() {
		Sinks.One<String> sink = Sinks.one();
		CountDownLatch begun = new CountDownLatch(1);
		CompletableFuture<String> result = mono(LockOptions.defaults(),
				sink.asMono().doOnSubscribe((upstream) -> begun.countDown()))
			.toFuture();
		await(begun);
		lose();
		sink.tryEmitError(new IllegalStateException("scripted"));
		assertThat(result).failsWithin(LONG)
			.withThrowableThat()
			.withCauseInstanceOf(LockLostException.class)
			.satisfies((ex) -> assertThat(ex.getCause().getSuppressed()).hasSize(1));
	}

	@Test
	void sequenceUnderTheSameLockReenters() {
		String result = this.locks.execute("a", () -> this.locks.execute("a", () -> Mono.just("re-entered")))
			.block(LONG);
		assertThat(result).isEqualTo("re-entered");
		assertThat(isHeld()).isFalse();
	}

	@Test
	void threadUnderTheSameLockReenters() {
		String result = this.template.execute("a",
				() -> this.locks.execute("a", () -> Mono.just("re-entered")).block(LONG));
		assertThat(result).isEqualTo("re-entered");
		assertThat(isHeld()).isFalse();
	}

	@Test
	void threadUnderAManuallyAcquiredLockReenters() {
		LockHandle handle = this.template.acquire("a");
		String result = this.template.within(handle,
				() -> this.locks.execute("a", () -> this.locks.execute("a", () -> Mono.just("re-entered")))
					.block(LONG));
		assertThat(result).isEqualTo("re-entered");
		assertThat(handle.release()).isTrue();
	}

	@Test
	void handleThatIsHeldForLongKeepsNothingOfSequencesThatHaveEnded() {
		LockHandle handle = this.template.acquire("a");
		for (int i = 0; i < 3; i++) {
			assertThat(this.template.within(handle, () -> mono(INTERRUPT, Mono.just("done")).block(LONG)))
				.isEqualTo("done");
			assertThat(handle).extracting("lostCallbacks").asInstanceOf(InstanceOfAssertFactories.COLLECTION).isEmpty();
		}
		assertThat(handle.release()).isTrue();
	}

	@Test
	void sequenceUnderAManuallyAcquiredLockEndsWithIt() {
		Sinks.One<String> sink = Sinks.one();
		LockHandle handle = this.template.acquire("a");
		CompletableFuture<String> result = this.template.within(handle,
				() -> mono(LockOptions.defaults(), sink.asMono()).toFuture());
		assertThat(handle.release()).isTrue();
		sink.tryEmitValue("too late");
		assertThat(result).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
	}

	@Test
	void threadWhoseTransactionKeepsTheLockReenters() {
		TransactionSynchronizationManager.initSynchronization();
		TransactionSynchronizationManager.setActualTransactionActive(true);
		try {
			this.template.acquire("a").close();
			assertThat(isHeld()).isTrue();
			assertThat(this.locks.execute("a", () -> Mono.just("re-entered")).block(LONG)).isEqualTo("re-entered");
			assertThat(isHeld()).isTrue();
			TransactionSynchronizationUtils.triggerAfterCompletion(TransactionSynchronization.STATUS_COMMITTED);
			assertThat(isHeld()).isFalse();
		}
		finally {
			TransactionSynchronizationManager.clear();
		}
	}

	@Test
	void sequenceThatWasBegunUnderTheSameLockOutlivesTheOuter() {
		Sinks.One<String> sink = Sinks.one();
		CompletableFuture<String> inner = this.template.execute("a",
				() -> mono(LockOptions.defaults(), sink.asMono()).toFuture());
		assertThat(isHeld()).isTrue();
		sink.tryEmitValue("done");
		assertThat(inner).succeedsWithin(LONG).isEqualTo("done");
		assertThat(isHeld()).isFalse();
	}

	@Test
	void sequenceUnderALockThatWasReleasedAcquiresItAgain() {
		Mono<String> inner = this.locks.execute("a", () -> Mono.just("anew"));
		ReactiveScope over = this.locks
			.execute("a", () -> Mono.deferContextual((context) -> Mono.just(ReactiveScope.of(context))))
			.block(LONG);
		assertThat(inner.contextWrite((context) -> context.put(ReactiveScope.class, over)).block(LONG))
			.isEqualTo("anew");
	}

	@Test
	void cancelledReentryLeavesTheOuterAlone() {
		this.template.execute("a", () -> {
			Disposable inner = mono(LockOptions.defaults(), Mono.never()).subscribe();
			inner.dispose();
			assertThat(isHeld()).isTrue();
		});
		LockWorld.eventually().until(() -> !isHeld());
	}

	private static Flux<String> uncancellable(CountDownLatch begun) {
		return Flux.from((subscriber) -> subscriber.onSubscribe(new Subscription() {

			@Override
			public void request(long n) {
				begun.countDown();
			}

			@Override
			public void cancel() {
				throw new IllegalStateException("scripted");
			}

		}));
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private ReactiveLockTemplate both() {
		return new ReactiveLockTemplate(
				this.template.forAll(Map.of("a", LockOptions.defaults(), "b", LockOptions.defaults())).engine());
	}

	private void inTransaction(Runnable work) {
		TransactionSynchronizationManager.initSynchronization();
		TransactionSynchronizationManager.setActualTransactionActive(true);
		try {
			work.run();
			TransactionSynchronizationUtils.triggerAfterCompletion(TransactionSynchronization.STATUS_COMMITTED);
		}
		finally {
			TransactionSynchronizationManager.clear();
		}
	}

	@Test
	void sequenceUnderSeveralLocksReentersWhatTheTransactionOfTheThreadKeeps() {
		inTransaction(() -> {
			this.template.acquire("a").close();
			assertThat(isHeld()).isTrue();
			assertThat(both().execute("both", () -> Mono.just("re-entered")).block(LONG)).isEqualTo("re-entered");
		});
	}

	@Test
	void resultThatALossKeepsFromTheSubscriberIsDiscarded() {
		List<Object> discarded = new CopyOnWriteArrayList<>();
		Mono<String> lost = this.locks.execute("a", () -> Mono.fromSupplier(() -> {
			this.world.clock().advance(Duration.ofSeconds(31));
			return "result";
		}));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> lost.doOnDiscard(String.class, discarded::add).block(LONG));
		assertThat(discarded).containsExactly("result");
	}

	@Test
	void sequenceDoesNotContinueUnderALockThatTheThreadUnlocks() throws Exception {
		Lock lock = this.template.asLock("a");
		CompletableFuture<String> end = new CompletableFuture<>();
		CountDownLatch working = new CountDownLatch(1);
		lock.lock();
		CompletableFuture<String> result = mono(PATIENT, Mono.fromFuture(() -> {
			working.countDown();
			return end;
		})).toFuture();
		lock.unlock();
		working.await();
		assertThat(this.world.anotherProcess().tryAcquire("a")).as("while the sequence goes on").isEmpty();
		end.complete("done");
		assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("done");
	}

	@Test
	void everyUndeliveredResultIsDiscarded() {
		List<Object> discarded = new CopyOnWriteArrayList<>();
		Mono<String> mono = this.locks.execute("a", LockOptions.defaults(), () -> Flux.just("one", "two"),
				(refusal) -> Mono.error(refusal.toException()));
		assertThat(mono.doOnDiscard(String.class, discarded::add).block()).isEqualTo("two");
		assertThat(discarded).containsExactly("one");
	}

}
