package dev.dblock.annotation.invocation;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockLostException;
import dev.dblock.LockShutdownException;
import dev.dblock.LockUnavailableException;
import dev.dblock.WhenLost;
import dev.dblock.WhenUnavailable;
import dev.dblock.annotation.LockingConfiguration;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.testing.RecordingReactiveManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.aop.MethodBeforeAdvice;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Role;
import org.springframework.http.ResponseEntity;
import org.springframework.transaction.ReactiveTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Locked methods that return sequences.
 */
@Timeout(300)
class ReactiveInvocationTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
			LockingConfiguration.class, TransactionConfiguration.class, AskingConfiguration.class, Orders.class);

	private final RecordingEngine engine = this.context.getBean(RecordingEngine.class);

	private final Orders orders = this.context.getBean(Orders.class);

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
	void callDoesNothingAndEachSubscriptionAcquiresTheLock() {
		Mono<String> settled = this.orders.settle("7");
		assertThat(this.engine.events()).isEmpty();
		assertThat(settled.block(LONG)).isEqualTo("settled 7 under order-7");
		assertThat(settled.block(LONG)).isEqualTo("settled 7 under order-7");
		assertThat(this.engine.events()).containsExactly("lock order-7", "run", "unlock order-7", "lock order-7", "run",
				"unlock order-7");
	}

	@Test
	void manyElementsAreUnderOneLock() {
		Flux<Integer> numbers = this.orders.numbers();
		assertThat(numbers.collectList().block(LONG)).containsExactly(1, 2, 3);
		assertThat(this.engine.events()).containsExactly("lock numbers", "run", "unlock numbers");
		assertThat(Flux.from(this.orders.publisher()).collectList().block(LONG)).containsExactly("a", "b");
		assertThat(this.engine.events()).endsWith("lock publisher", "unlock publisher");
	}

	@Test
	void eachSubscriptionHasATransactionOfItsOwnInsideTheLock() {
		Mono<String> settled = this.orders.transactional();
		for (int i = 0; i < 2; i++) {
			this.engine.clear();
			assertThat(settled.block(LONG)).isEqualTo("in a transaction");
			assertThat(this.engine.events()).containsExactly("lock transactional", "begin", "run", "commit",
					"unlock transactional");
		}
	}

	@Test
	void transactionOfAFailedSequenceIsRolledBackInsideTheLock() {
		assertThatIllegalStateException().isThrownBy(() -> this.orders.failing().block(LONG)).withMessage("scripted");
		assertThat(this.engine.events()).containsExactly("lock failing", "begin", "rollback", "unlock failing");
	}

	@Test
	void adviceThatAsksTheThreadForTheCallFindsIt() {
		assertThat(this.orders.advised("7").block(LONG)).isEqualTo("7");
		assertThat(this.engine.events()).containsExactly("lock advised", "before advised(7)", "unlock advised");
	}

	@Test
	void exceptionOfTheMethodIsTheErrorOfTheSequence() {
		assertThatIllegalStateException().isThrownBy(() -> this.orders.throwing().block(LONG)).withMessage("scripted");
		assertThat(this.engine.events()).containsExactly("lock throwing", "unlock throwing");
	}

	@Test
	void callThatGivesNoNameFailsItsSubscription() {
		Mono<String> unnamed = this.orders.settle(null);
		assertThatIllegalArgumentException().isThrownBy(() -> unnamed.block(LONG))
			.withMessageContaining("#{#id} in the name 'order-#{#id}' is null");
		assertThat(this.engine.events()).isEmpty();
	}

	@Test
	void nameIsThatOfTheSubscription() {
		int[] number = { 7 };
		Mono<String> byState = this.orders.byState(number);
		byState.block(LONG);
		number[0] = 8;
		byState.block(LONG);
		assertThat(this.engine.events()).containsExactly("lock state-7", "unlock state-7", "lock state-8",
				"unlock state-8");
	}

	@Test
	void unavailableIsAnError() {
		this.engine.holdElsewhere("order-7");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.orders.settle("7").block(LONG));
		assertThat(this.engine.events()).containsExactly("refuse order-7");
	}

	@Test
	void skippedSequenceIsEmpty() {
		this.engine.holdElsewhere("skipping");
		assertThat(this.orders.skipping().blockOptional(LONG)).isEmpty();
		assertThat(this.orders.skippingVoid().blockOptional(LONG)).isEmpty();
		assertThat(this.orders.skippingMany().collectList().block(LONG)).isEmpty();
		assertThat(this.engine.events()).containsOnly("refuse skipping");
	}

	@Test
	void callThatMaySkipIsSkippedWhileTheApplicationCloses() {
		this.engine.beginClosing();
		assertThat(this.orders.skipping().blockOptional(LONG)).isEmpty();
		assertThat(this.orders.skippingVoid().blockOptional(LONG)).isEmpty();
		assertThat(this.orders.skippingMany().collectList().block(LONG)).isEmpty();
		assertThat(this.engine.events()).isEmpty();
	}

	@Test
	void callThatMayNotSkipIsRefusedWhileTheApplicationCloses() {
		this.engine.beginClosing();
		assertThatExceptionOfType(LockShutdownException.class).isThrownBy(() -> this.orders.settle("7").block(LONG));
		assertThatExceptionOfType(LockShutdownException.class)
			.isThrownBy(() -> this.orders.numbers().collectList().block(LONG));
		assertThatExceptionOfType(LockShutdownException.class).isThrownBy(() -> this.orders.falling("7").block(LONG));
	}

	@Test
	void aShutdownInTheMiddleOfAMethodIsNoSkip() {
		for (boolean thrown : List.of(true, false)) {
			Mono<String> late = this.orders.skippingAndLockingLate(thrown);
			assertThatExceptionOfType(LockShutdownException.class).isThrownBy(() -> late.block(LONG));
		}
	}

	@Test
	void elementThatIsWorkOfItsOwnIsDropped() {
		assertThatIllegalStateException()
			.isThrownBy(() -> this.orders.objects(ResponseEntity.ok(Stream.of("x"))).blockLast(LONG))
			.withMessageContaining("#objects(Object) returned a java.util.stream.");
		assertThatIllegalStateException()
			.isThrownBy(() -> this.orders.objects(new CompletableFuture<>()).blockLast(LONG))
			.withMessageContaining("whose work would continue without the lock; the result was discarded");
		CompletableFuture<String> done = CompletableFuture.completedFuture("done");
		assertThat(this.orders.objects(done).blockLast(LONG)).isSameAs(done);
		assertThat(this.engine.isHeld("objects")).isFalse();
	}

	@Test
	void conditionIsThatOfTheSubscription() {
		AtomicInteger count = new AtomicInteger();
		Mono<Optional<String>> conditional = this.orders.conditional(count);
		assertThat(conditional.block(LONG)).isEmpty();
		count.set(1);
		assertThat(conditional.block(LONG)).contains("conditional");
		assertThatIllegalStateException().isThrownBy(() -> this.orders.unlockedAndThrowing().block(LONG))
			.withMessage("scripted");
	}

	@Test
	void fallbackReplacesTheSequence() {
		this.engine.holdElsewhere("falling");
		assertThat(this.orders.falling("7").block(LONG)).isEqualTo("instead of 7: falling");
	}

	@Test
	void lossReachesTheSubscriber() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		var result = this.orders.never(begun).toFuture();
		begun.await();
		this.engine.lose("never");
		assertThat(result).failsWithin(LONG).withThrowableThat().withCauseInstanceOf(LockLostException.class);
	}

	public static class Orders {

		private final RecordingEngine engine;

		Orders(RecordingEngine engine) {
			this.engine = engine;
		}

		@DistributedLock("order-#{#id}")
		public Mono<String> settle(String id) {
			this.engine.event("run");
			return ReactiveLockTemplate.current().map((lock) -> "settled " + id + " under " + lock.name());
		}

		@DistributedLock("numbers")
		public Flux<Integer> numbers() {
			this.engine.event("run");
			return Flux.just(1, 2, 3);
		}

		@DistributedLock("objects")
		public Flux<Object> objects(Object element) {
			return Flux.just(element);
		}

		@DistributedLock("publisher")
		public Publisher<String> publisher() {
			return Flux.just("a", "b");
		}

		@Transactional
		@DistributedLock("transactional")
		public Mono<String> transactional() {
			return TransactionSynchronizationManager.forCurrentTransaction().map((transaction) -> {
				this.engine.event("run");
				return transaction.isActualTransactionActive() ? "in a transaction" : "in none";
			});
		}

		@Transactional
		@DistributedLock("failing")
		public Mono<String> failing() {
			return Mono.error(new IllegalStateException("scripted"));
		}

		@DistributedLock("advised")
		public Mono<String> advised(String id) {
			return Mono.just(id);
		}

		@DistributedLock("throwing")
		public Mono<String> throwing() {
			throw new IllegalStateException("scripted");
		}

		@DistributedLock("state-#{#number[0]}")
		public Mono<String> byState(int[] number) {
			return Mono.empty();
		}

		@DistributedLock(name = "skipping", whenUnavailable = WhenUnavailable.SKIP)
		public Mono<String> skipping() {
			return Mono.just("x");
		}

		@DistributedLock(name = "skipping", whenUnavailable = WhenUnavailable.SKIP)
		public Mono<Void> skippingVoid() {
			return Mono.error(new IllegalStateException());
		}

		@DistributedLock(name = "skipping", whenUnavailable = WhenUnavailable.SKIP)
		public Flux<String> skippingMany() {
			return Flux.just("x");
		}

		@DistributedLock(name = "skipping", whenUnavailable = WhenUnavailable.SKIP)
		public Mono<String> skippingAndLockingLate(boolean thrown) {
			LockShutdownException shutdown = new LockShutdownException("another");
			if (thrown) {
				throw shutdown;
			}
			return Mono.error(shutdown);
		}

		@DistributedLock(name = "conditional", condition = "#count.get() > 0")
		public Mono<Optional<String>> conditional(AtomicInteger count) {
			return ReactiveLockTemplate.current()
				.map((lock) -> Optional.of(lock.name()))
				.defaultIfEmpty(Optional.empty());
		}

		@DistributedLock(name = "conditional", condition = "false")
		public Mono<String> unlockedAndThrowing() {
			throw new IllegalStateException("scripted");
		}

		@DistributedLock(name = "falling", fallback = "instead")
		public Mono<String> falling(String id) {
			return Mono.just(id);
		}

		private Mono<String> instead(String id, LockUnavailableException ex) {
			return Mono.just("instead of " + id + ": " + ex.name());
		}

		@DistributedLock(name = "never", whenLost = WhenLost.INTERRUPT)
		public Mono<String> never(CountDownLatch begun) {
			return Mono.<String>never().doOnSubscribe((subscription) -> begun.countDown());
		}

	}

	/**
	 * Asks the thread for the call, as the advice of an aspect does.
	 */
	static class AskingConfiguration {

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DefaultPointcutAdvisor asking(ObjectProvider<RecordingEngine> engine) {
			NameMatchMethodPointcut advised = new NameMatchMethodPointcut();
			advised.addMethodName("advised");
			MethodBeforeAdvice advice = (method, arguments, target) -> engine.getObject()
				.event("before advised(%s)"
					.formatted(ExposeInvocationInterceptor.currentInvocation().getArguments()[0]));
			return new DefaultPointcutAdvisor(advised, advice);
		}

	}

	@EnableTransactionManagement(proxyTargetClass = true)
	static class TransactionConfiguration {

		@Bean
		ReactiveTransactionManager transactionManager(RecordingEngine engine) {
			return new RecordingReactiveManager(engine::event);
		}

	}

}
