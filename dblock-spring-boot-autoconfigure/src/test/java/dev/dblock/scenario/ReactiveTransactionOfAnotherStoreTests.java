package dev.dblock.scenario;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import dev.dblock.LockLostException;
import dev.dblock.reactive.ReactiveTransactions;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.RecordingReactiveManager;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.transaction.reactive.TransactionalOperator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Reactive transactions of MongoDB and of another store, inside one another, under one
 * lock.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class ReactiveTransactionOfAnotherStoreTests {

	private final List<String> elsewhere = new CopyOnWriteArrayList<>();

	private Instances instances;

	private Instance other;

	private ReactiveApplication application;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
		this.other = this.instances.start("other");
		this.application = ReactiveApplication.start(this.instances, "application");
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	private <T> Mono<T> elsewhere(Mono<T> work) {
		return elsewhere(work, true);
	}

	private <T> Mono<T> elsewhere(Mono<T> work, boolean binding) {
		RecordingReactiveManager manager = binding ? new BindingManager(this.elsewhere)
				: new RecordingReactiveManager(this.elsewhere::add);
		return work.as(ReactiveTransactions.joining(TransactionalOperator.create(manager))::transactional);
	}

	private Mono<String> order() {
		return this.application.order();
	}

	private Mono<String> orderInTransactionOfItsOwn(Mono<String> order) {
		return order.as(ReactiveTransactions.joining(
				this.application.ownOperator(false, TransactionDefinition.PROPAGATION_REQUIRES_NEW))::transactional);
	}

	private String run(Mono<String> work) {
		return work.block(ReactiveApplication.LONG);
	}

	private void overtake() {
		this.instances.expire("stock");
		this.other.locks().acquire("stock");
	}

	private long orders() {
		return this.instances.collection("orders")
			.countDocuments(new Document("_id", new Document("$ne", "application")));
	}

	private void assertLost(Mono<String> stale) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> run(stale));
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void writesNoFenceIntoTheOneAroundIt(boolean binding) {
		Mono<String> inner = elsewhere(Mono.just("elsewhere"), binding);
		run(this.application.stock().lockedInTransaction(() -> order().then(inner).then(Mono.defer(() -> {
			assertThat(this.elsewhere).containsExactly("begin", "commit");
			assertThat(this.application.commands().fences()).isEmpty();
			return Mono.just("none so far");
		}))));
		assertThat(orders()).isOne();
		this.application.commands().assertFencedOnce("orders");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void leavesTheSlotsToThoseThatFollow(boolean binding) {
		Mono<String> inner = elsewhere(Mono.just("elsewhere"), binding);
		run(this.application.stock()
			.lockedInTransaction(() -> order().then(inner).then(orderInTransactionOfItsOwn(order()))));
		assertThat(orders()).isEqualTo(2);
	}

	@Test
	void theOneAroundItIsNotCommittedOnceItWasOvertakenInside() {
		assertLost(this.application.stock()
			.lockedInTransaction(() -> order().then(elsewhere(Mono.fromRunnable(this::overtake))).then(order())));
		assertThat(orders()).isZero();
	}

	@Test
	void oneOfMongodbInsideTwoOthersIsFenced() {
		Mono<String> overtaken = this.application.order(this::overtake);
		assertLost(this.application.stock()
			.lockedInTransaction(() -> order().then(elsewhere(orderInTransactionOfItsOwn(overtaken)))));
		assertThat(orders()).isZero();
	}

	/**
	 * A resource that was bound during the transaction does not identify its manager.
	 */
	@Test
	void oneOfMongodbThatUsesAnotherStoreOnTheWayIsFenced() {
		TransactionalOperator own = this.application.ownOperator(false, TransactionDefinition.PROPAGATION_REQUIRED);
		Mono<Void> used = TransactionSynchronizationManager.forCurrentTransaction()
			.doOnNext((manager) -> manager.bindResource("connection", "open"))
			.then();
		Mono<String> joined = ReactiveTransactions.join().then(this.application.order(this::overtake));
		assertLost(this.application.stock().locked(() -> used.then(joined).as(own::transactional)));
		assertThat(orders()).isZero();
	}

	/**
	 * Binds its connection, as the managers of real stores do.
	 */
	private static final class BindingManager extends RecordingReactiveManager {

		private static final long serialVersionUID = 1L;

		BindingManager(List<String> events) {
			super(events::add);
		}

		@Override
		protected Mono<Void> doBegin(TransactionSynchronizationManager manager, Object transaction,
				TransactionDefinition definition) {
			return super.doBegin(manager, transaction, definition)
				.then(Mono.fromRunnable(() -> manager.bindResource(this, "connection")));
		}

		@Override
		protected Mono<Void> doCleanupAfterCompletion(TransactionSynchronizationManager manager, Object transaction) {
			return Mono.fromRunnable(() -> manager.unbindResource(this));
		}

	}

}
