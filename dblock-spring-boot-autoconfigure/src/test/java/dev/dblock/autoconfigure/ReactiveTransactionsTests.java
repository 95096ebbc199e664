package dev.dblock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import dev.dblock.DistributedLock;
import dev.dblock.LockInfo;
import dev.dblock.LockLostException;
import dev.dblock.core.LockWorld;
import dev.dblock.engine.LockEngine;
import dev.dblock.reactive.ReactiveTransactions;
import dev.dblock.testing.RecordingReactiveManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.reactive.GenericReactiveTransaction;
import org.springframework.transaction.reactive.TransactionCallback;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Reactive transactions inside of locks.
 */
@Timeout(300)
class ReactiveTransactionsTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final LockWorld world = new LockWorld();

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, DblockAopAutoConfiguration.class,
				DblockReactiveAutoConfiguration.class))
		.withBean(LockEngine.class, this.world.template()::engine)
		.withUserConfiguration(OrdersConfiguration.class);

	@AfterEach
	void close() {
		this.world.close();
	}

	private boolean isHeld() {
		return this.world.template().inspect("order").filter(LockInfo::held).isPresent();
	}

	private void lose() {
		this.world.clock().advance(Duration.ofSeconds(30));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void transactionIsCommittedUnderItsLock(boolean aspectj) {
		this.contextRunner.withClassLoader(new FilteredClassLoader(aspectj ? "none" : "org.aspectj")).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThat(orders.settle(() -> Mono.just("settled")).block(LONG)).isEqualTo("settled");
			assertThat(orders.all().collectList().block(LONG)).containsExactly(1, 2);
			assertThat(context.getBean(Manager.class).events).containsExactly("begin", "commit", "begin", "commit");
			assertThat(isHeld()).isFalse();
		});
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void transactionIsNotCommittedUnderALockThatWasLost(boolean aspectj) {
		this.contextRunner.withClassLoader(new FilteredClassLoader(aspectj ? "none" : "org.aspectj")).run((context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> orders.settle(() -> Mono.fromSupplier(() -> {
					lose();
					return "too late";
				})).block(LONG));
			assertThat(context.getBean(Manager.class).events).containsExactly("begin", "rollback");
		});
	}

	@Test
	void transactionFurtherInsideIsNotCommittedEither() {
		this.contextRunner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			Shipping shipping = context.getBean(Shipping.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> orders.lockedOnly(() -> shipping.ship(this::lose)).block(LONG));
			assertThat(context.getBean(Manager.class).events).containsExactly("begin", "rollback");
		});
	}

	@Test
	void transactionOfAnOperatorJoinsManually() {
		this.contextRunner.run((context) -> {
			Manager manager = context.getBean(Manager.class);
			TransactionalOperator operator = TransactionalOperator.create(manager);
			Orders orders = context.getBean(Orders.class);
			Mono<String> work = Mono.fromSupplier(() -> {
				lose();
				return "too late";
			});
			assertThatExceptionOfType(LockLostException.class).isThrownBy(
					() -> orders.lockedOnly(() -> ReactiveTransactions.join().then(work).as(operator::transactional))
						.block(LONG));
			assertThat(manager.events).containsExactly("begin", "rollback");
		});
	}

	@Test
	void operatorsOfSpringJoinAndOthersStayWhatTheyAre() {
		this.contextRunner
			.withBean("springs", TransactionalOperator.class, () -> TransactionalOperator.create(new Manager()))
			.withBean(OwnOperator.class)
			.withBean(NeedsOwnOperator.class)
			.run((context) -> {
				TransactionalOperator joining = context.getBean("springs", TransactionalOperator.class);
				assertThat(ReactiveTransactions.joining(joining)).isSameAs(joining);
				assertThat(context.getBean(NeedsOwnOperator.class).operator()).isInstanceOf(OwnOperator.class);
			});
	}

	@Test
	void transactionOutsideOfLocksIsUnchanged() {
		this.contextRunner.run((context) -> {
			assertThat(context.getBean(Shipping.class).ship(this::lose).block(LONG)).isEqualTo("shipped");
			assertThat(context.getBean(Manager.class).events).containsExactly("begin", "commit");
			assertThat(ReactiveTransactions.join().blockOptional(LONG)).isEmpty();
		});
	}

	@Test
	void lockOfACancelledSequenceIsReleasedWhenItsTransactionHasEnded() {
		this.contextRunner.run((context) -> {
			Manager manager = context.getBean(Manager.class);
			CountDownLatch begun = new CountDownLatch(1);
			Disposable subscription = context.getBean(Orders.class)
				.settle(() -> Mono.<String>never().doOnSubscribe((upstream) -> begun.countDown()))
				.subscribe();
			assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
			manager.hold = Sinks.empty();
			subscription.dispose();
			LockWorld.eventually().until(() -> manager.events.contains("rolling back"));
			assertThat(isHeld()).isTrue();
			manager.hold.tryEmitEmpty();
			LockWorld.eventually().until(() -> !isHeld());
			assertThat(manager.events).containsExactly("begin", "rolling back", "rollback");
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(proxyTargetClass = true)
	static class OrdersConfiguration {

		@Bean
		Orders orders() {
			return new Orders();
		}

		@Bean
		Shipping shipping() {
			return new Shipping();
		}

		@Bean
		Manager transactionManager() {
			return new Manager();
		}

	}

	public static class Orders {

		@Transactional
		@DistributedLock("order")
		public Mono<String> settle(Supplier<Mono<String>> work) {
			return work.get();
		}

		@Transactional
		@DistributedLock("order")
		public Flux<Integer> all() {
			return Flux.just(1, 2);
		}

		@DistributedLock("order")
		public Mono<String> lockedOnly(Supplier<Mono<String>> work) {
			return work.get();
		}

	}

	record NeedsOwnOperator(OwnOperator operator) {
	}

	static final class OwnOperator implements TransactionalOperator {

		@Override
		public <T> Flux<T> execute(TransactionCallback<T> action) {
			return Flux.empty();
		}

	}

	public static class Shipping {

		@Transactional
		public Mono<String> ship(Runnable work) {
			return Mono.fromSupplier(() -> {
				work.run();
				return "shipped";
			});
		}

	}

	static class Manager extends RecordingReactiveManager {

		private static final long serialVersionUID = 1L;

		final transient List<String> events;

		transient volatile Sinks.Empty<Void> hold;

		Manager() {
			this(new CopyOnWriteArrayList<>());
		}

		private Manager(List<String> events) {
			super(events::add);
			this.events = events;
		}

		@Override
		protected Mono<Void> doRollback(TransactionSynchronizationManager manager, GenericReactiveTransaction status) {
			Sinks.Empty<Void> hold = this.hold;
			return (hold == null) ? event("rollback")
					: event("rolling back").then(hold.asMono()).then(event("rollback"));
		}

	}

}
