package dev.dblock.scenario;

import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import com.mongodb.MongoException;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LossReason;
import dev.dblock.execution.DefaultLockTemplate;
import dev.dblock.reactive.ReactiveLockTemplate;
import dev.dblock.reactive.ReactiveTransactions;
import dev.dblock.scenario.ReactiveApplication.Elsewhere;
import dev.dblock.scenario.ReactiveApplication.Way;
import dev.dblock.scenario.SentCommands.Sent;
import dev.dblock.testing.FailCommand;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.BsonBinary;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.reactive.TransactionalOperator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Reactive transactions of a holder that another one has overtaken, while it still
 * believes in its lease.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
class FencedReactiveTransactionTests {

	private static final String ORDERS = "orders";

	private static final String TRANSIENT = "TransientTransactionError";

	private static final int NO_SUCH_TRANSACTION = 251;

	private MongoServer server;

	private Instances instances;

	private Instance other;

	private ReactiveApplication application;

	private volatile LockHandle successor;

	@BeforeEach
	void start(MongoServer server) {
		this.server = server;
		this.instances = new Instances(server);
		this.other = this.instances.start("other");
		this.application = ReactiveApplication.start(this.instances, "application", "dblock.handoff.max-time=1m");
	}

	@AfterEach
	void stop() throws Exception {
		this.server.clearFailPoints();
		endOpenTransactions();
		this.instances.close();
	}

	private long orders() {
		return this.instances.collection(ORDERS)
			.countDocuments(new Document("_id", new Document("$ne", "application")));
	}

	private void overtake() {
		this.instances.expire("stock");
		this.successor = this.other.locks().acquire("stock");
	}

	private Document fence(int slot) {
		return this.instances.collection(Instance.FENCES)
			.find(new Document("_id", new Document("name", "stock").append("slot", slot)))
			.first();
	}

	private String run(Way way, Supplier<Mono<String>> work) {
		return way.run(this.application, work).block(ReactiveApplication.LONG);
	}

	private String run(Mono<String> work) {
		return work.block(ReactiveApplication.LONG);
	}

	private Mono<String> order() {
		return this.application.order();
	}

	private void assertLost(Runnable stale) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(stale::run)
			.satisfies((lost) -> assertThat(lost.name()).isEqualTo("stock"))
			.extracting(LockLostException::reason)
			.isEqualTo(LossReason.TAKEN_OVER);
	}

	/**
	 * Those that are part of a transaction, or would be.
	 */
	@ParameterizedTest
	@EnumSource
	void transactionIsFencedAndCommitted(Way way) {
		assertThat(run(way, this::order)).isEqualTo("ordered");
		assertThat(orders()).isEqualTo(1);
		assertThat(fence(0)).isNotNull();
		assertThat(this.instances.isReleased("stock")).isTrue();
		assertThat(this.instances.document("stock").getBoolean("fencePending", false)).isFalse();
	}

	@ParameterizedTest
	@EnumSource
	void transactionThatIsOvertakenIsNotCommitted(Way way) {
		assertLost(() -> run(way, () -> this.application.order(this::overtake)));
		assertThat(orders()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void transactionThatIsOvertakenAfterOthersIsNotCommittedEither(Way way) {
		run(way, this::order);
		assertLost(() -> run(way, () -> this.application.order(this::overtake).then(order())));
		assertThat(orders()).isEqualTo(1);
	}

	@Test
	void transactionThatBeginsAfterTheTakeOverIsNotCommitted() {
		TransactionalOperator operator = this.application.operator();
		assertLost(() -> run(this.application.stock()
			.locked(() -> order().as(operator::transactional)
				.then(Mono.fromRunnable(this::overtake))
				.then(order().as(operator::transactional)))));
		assertThat(orders()).as("what was committed before").isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource
	void takeOverWaitsForTheCommitThatCameFirst(Way way) throws Exception {
		run(way, this::order);
		AtomicReference<Work<Long>> takeOver = new AtomicReference<>();
		this.application.beforeCommits(() -> {
			Work<Long> started = Work.start(() -> {
				overtake();
				return orders();
			});
			Instances.eventually().until(() -> !this.other.commands().fences().isEmpty());
			assertThat(started.isDone()).isFalse();
			takeOver.set(started);
		});
		try {
			run(way, this::order);
		}
		catch (LockLostException ex) {
			assertThat(ex.name()).as("reported by the release, after the commit").isEqualTo("stock");
		}
		assertThat(takeOver.get().result()).as("what the next holder sees").isEqualTo(2);
	}

	@Test
	void fenceIsOneCommandOfTheTransaction() {
		run(Way.ANNOTATIONS, this::order);
		this.application.commands().assertFencedOnce(ORDERS);
	}

	@Test
	void nothingIsSentForAFenceWhereThereIsNoLockOrNoTransaction() {
		run(this.application.stock().inTransaction(this::order));
		run(order().as(this.application.operator()::transactional));
		run(this.application.stock().locked(this::order));
		assertThat(orders()).isEqualTo(3);
		assertThat(this.application.commands().to(Instance.FENCES)).isEmpty();
	}

	@Test
	void readOnlyTransactionCarriesNoFenceAndKeepsItsLockUntilItEnds() {
		run(this.application.stock()
			.readOnly(() -> this.application.stock()
				.locked(() -> Mono.just("read"))
				.doOnNext((read) -> assertThat(this.other.locks().tryAcquire("stock")).isEmpty())));
		assertThat(this.instances.isReleased("stock")).isTrue();
		run(this.application.stock().locked(() -> this.application.stock().readOnly(() -> Mono.just("read"))));
		assertThat(this.application.commands().fences()).isEmpty();
	}

	@Test
	void transactionOfOtherServersIsNotFenced() {
		try (Elsewhere elsewhere = new Elsewhere()) {
			TransactionalOperator operator = ReactiveTransactions.joining(elsewhere.operator());
			assertThat(run(this.application.stock().locked(() -> Mono.just("done").as(operator::transactional))))
				.isEqualTo("done");
			assertThat(run(this.application.stock().locked(() -> Mono.just("done")).as(operator::transactional)))
				.isEqualTo("done");
		}
		assertThat(this.application.commands().fences()).isEmpty();
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

	@Test
	void withoutTheFenceAStaleTransactionIsCommitted() {
		ReactiveApplication unfenced = ReactiveApplication.start(this.instances, "unfenced",
				"dblock.mongodb.fence-transactions=false");
		long before = orders();
		assertThatExceptionOfType(LockLostException.class).as("reported by the release")
			.isThrownBy(() -> run(unfenced.stock().lockedInTransaction(() -> unfenced.order(this::overtake))));
		assertThat(orders()).isEqualTo(before + 1);
		assertThat(unfenced.commands().to(Instance.FENCES)).isEmpty();
	}

	@Test
	void manuallyCreatedOperatorJoinsManually() {
		TransactionalOperator own = this.application.ownOperator(false, TransactionDefinition.PROPAGATION_REQUIRED);
		Mono<String> overtaken = this.application.order(this::overtake);
		assertLost(() -> run(this.application.stock()
			.locked(() -> ReactiveTransactions.join().then(overtaken).as(own::transactional))));
		this.successor.release();
		assertLost(() -> run(this.application.stock()
			.locked(() -> overtaken.flux().as(ReactiveTransactions.joining(own)::transactional).singleOrEmpty())));
		assertThat(orders()).isZero();
		assertThat(ReactiveTransactions.joining(this.application.operator())).isSameAs(this.application.operator());
	}

	@Test
	void lockThatIsTakenInsideATransactionIsReleasedAfterTheCommit() {
		List<Long> tokens = new CopyOnWriteArrayList<>();
		Mono<String> locked = this.application.stock()
			.locked(() -> ReactiveLockTemplate.current().doOnNext((lock) -> tokens.add(lock.token())).then(order()));
		run(locked.doOnNext((ordered) -> assertThat(this.other.locks().tryAcquire("stock")).isEmpty())
			.then(locked)
			.as(this.application.operator()::transactional));
		assertThat(orders()).isEqualTo(2);
		assertThat(this.instances.isReleased("stock")).isTrue();
		assertThat(tokens).as("the second call has found the lock of the first").hasSize(2);
		assertThat(tokens.get(1)).isEqualTo(tokens.get(0));
	}

	@Test
	void transactionInsideOfWhichALockWasTakenIsNotCommittedOnceThatIsOvertaken() {
		assertLost(() -> run(this.application.stock()
			.locked(this::order)
			.doOnNext((ordered) -> overtake())
			.as(this.application.operator()::transactional)));
		assertThat(orders()).isZero();
	}

	@Test
	void severalLocksInsideATransactionAreKeptAndFenced() {
		ReactiveLockTemplate several = new ReactiveLockTemplate(
				DefaultLockTemplate.of(this.application.locks()).engine());
		run(several.execute("warehouse", () -> this.application.stock().locked(this::order))
			.doOnNext((ordered) -> assertThat(this.other.locks().tryAcquire("warehouse")).isEmpty())
			.as(this.application.operator()::transactional));
		assertThat(orders()).isEqualTo(1);
		assertThat(this.instances.collection(Instance.FENCES).countDocuments(new Document("_id.slot", 0))).isEqualTo(2);
		assertThat(this.instances.isReleased("warehouse")).isTrue();
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

	@Test
	void parallelTransactionsHaveSlotsOfTheirOwn() {
		TransactionalOperator operator = this.application.operator();
		CountDownLatch together = new CountDownLatch(2);
		Mono<String> one = this.application.order(() -> meet(together)).as(operator::transactional);
		run(this.application.stock().locked(() -> Flux.merge(one, one).last()));
		assertThat(orders()).isEqualTo(2);
		assertThat(fence(0)).containsEntry("token", fence(1).get("token"));
		assertThat(fence(2)).isNull();
	}

	private static void meet(CountDownLatch together) {
		together.countDown();
		try {
			assertThat(together.await(ReactiveApplication.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void innerTransactionIsFencedBesideTheOuterOne() {
		TransactionalOperator inner = ReactiveTransactions
			.joining(this.application.ownOperator(false, TransactionDefinition.PROPAGATION_REQUIRES_NEW));
		run(this.application.stock()
			.lockedInTransaction(() -> order().then(order().as(inner::transactional)).then(order())));
		assertThat(orders()).isEqualTo(3);
		assertThat(fence(0)).isNotNull();
		assertThat(fence(1)).isNotNull();
		assertThat(fence(2)).isNull();
	}

	@Test
	void fifthTransactionAtATimeIsRefused() {
		TransactionalOperator inner = ReactiveTransactions
			.joining(this.application.ownOperator(false, TransactionDefinition.PROPAGATION_REQUIRES_NEW));
		Mono<String> nested = order();
		for (int i = 0; i < 5; i++) {
			nested = nested.as(inner::transactional);
		}
		Mono<String> five = nested;
		assertThatIllegalStateException().isThrownBy(() -> run(this.application.stock().locked(() -> five)))
			.withMessageContaining("'stock'")
			.withMessageContaining("4 others");
		assertThat(orders()).isZero();
	}

	@Test
	void cancelledTransactionKeepsItsLockUntilItIsRolledBack() throws Exception {
		for (Way way : Way.values()) {
			CountDownLatch begun = new CountDownLatch(1);
			Disposable subscription = way
				.run(this.application, () -> this.application.order(begun::countDown).then(Mono.never()))
				.subscribe();
			assertThat(begun.await(ReactiveApplication.LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
			assertThat(this.other.locks().tryAcquire("stock")).isEmpty();
			subscription.dispose();
			Instances.eventually().until(this::isFreeForThisApplication);
			assertThat(orders()).isZero();
			assertThat(this.instances.document("stock").getBoolean("fencePending", false)).isFalse();
		}
		assertThat(this.application.commands().fences()).isEmpty();
	}

	// The document shows a release before the application has its answer. Until then, the
	// application refuses the lock to its own callers.
	private boolean isFreeForThisApplication() {
		Optional<LockHandle> handle = this.application.locks().tryAcquire("stock");
		handle.ifPresent(LockHandle::close);
		return handle.isPresent();
	}

	@Test
	void rolledBackTransactionLeavesItsSlotFree() {
		assertThatIllegalStateException().isThrownBy(() -> run(this.application.stock()
			.lockedInTransaction(() -> order().then(Mono.error(new IllegalStateException("scripted"))))));
		assertThat(orders()).isZero();
		assertThat(this.application.commands().fences()).isEmpty();
		assertThat(this.instances.isReleased("stock")).isTrue();
		assertThat(this.instances.document("stock").getBoolean("fencePending", false)).isFalse();
	}

	@Test
	void lossThatIsKnownRefusesTheCommitWithoutARequest() {
		assertLost(() -> run(Way.ANNOTATIONS, () -> ReactiveLockTemplate.current().flatMap((lock) -> {
			overtake();
			return Mono.fromRunnable(() -> assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::renew))
				.then(order());
		})));
		assertThat(orders()).isZero();
		assertThat(this.application.commands().fences()).isEmpty();
	}

	@Test
	void repeatedTransactionChecksTheLockAgain() {
		this.server.failCommand(
				FailCommand.on("commitTransaction").errorCode(NO_SUCH_TRANSACTION).errorLabels(TRANSIENT).times(2));
		AtomicInteger attempts = new AtomicInteger();
		TransactionalOperator operator = this.application.operator();
		assertThat(run(this.application.stock()
			.locked(() -> Mono.defer(() -> (attempts.incrementAndGet() < 3) ? Mono.just("nothing yet") : order())
				.as(operator::transactional)
				.retryWhen(Retry.max(5).filter(this::isTransient)))))
			.isEqualTo("ordered");
		assertThat(attempts).hasValue(3);
		assertThat(orders()).isEqualTo(1);
		attempts.set(0);
		this.server.failCommand(
				FailCommand.on("commitTransaction").errorCode(NO_SUCH_TRANSACTION).errorLabels(TRANSIENT).times(1));
		assertLost(() -> run(this.application.stock()
			.locked(() -> Mono
				.defer(() -> (attempts.incrementAndGet() == 1) ? Mono.just("nothing yet")
						: this.application.order(this::overtake))
				.as(operator::transactional)
				.retryWhen(Retry.max(5).filter(this::isTransient)))));
		assertThat(attempts).hasValue(2);
		assertThat(orders()).isEqualTo(1);
	}

	private boolean isTransient(Throwable thrown) {
		endOpenTransactions();
		return thrown instanceof TransactionSystemException && thrown.getCause() instanceof MongoException cause
				&& cause.hasErrorLabel(TRANSIENT);
	}

	/**
	 * Let the server abort transactions at once, as it does for a dead process after a
	 * minute.
	 */
	private void endOpenTransactions() {
		List<Document> sessions = this.application.commands()
			.to(Instance.FENCES)
			.stream()
			.filter(Sent::inTransaction)
			.map((sent) -> new Document("id", new BsonBinary(UUID.fromString(sent.session()))))
			.distinct()
			.toList();
		this.server.client().getDatabase("admin").runCommand(new Document("killSessions", sessions));
	}

	@Test
	void commitWhoseOutcomeIsUnknownHasTheNextHolderRaiseTheFence() {
		this.server.failCommand(FailCommand.on("commitTransaction").closeConnection().times(2));
		assertThatExceptionOfType(TransactionSystemException.class).isThrownBy(() -> run(Way.ANNOTATIONS, this::order));
		assertThat(this.instances.isReleased("stock")).isTrue();
		assertThat(this.instances.document("stock")).containsEntry("fencePending", true);
	}

	@Test
	void commitThatTheServerDidIsKnownToBeOver() {
		this.server.failCommand(FailCommand.on("commitTransaction").writeConcernError(91).times(2));
		assertThatExceptionOfType(TransactionSystemException.class).isThrownBy(() -> run(Way.ANNOTATIONS, this::order));
		assertThat(orders()).as("the server had done it").isEqualTo(1);
		assertThat(this.instances.isReleased("stock")).isTrue();
		assertThat(this.instances.document("stock").getBoolean("fencePending", false)).isFalse();
	}

	@Test
	void conflictUnderALockThatIsStillHeldIsTransient() {
		this.server.failCommand(FailCommand.on("findAndModify")
			.forCollection(this.instances.documents().getNamespace().getDatabaseName(), Instance.FENCES)
			.errorCode(112)
			.errorLabels(TRANSIENT)
			.times(1));
		TransactionalOperator operator = this.application.operator();
		AtomicReference<Throwable> first = new AtomicReference<>();
		run(this.application.stock().locked(() -> order().as(operator::transactional).doOnError(first::set).retry(1)));
		assertThat(first.get()).hasCauseInstanceOf(MongoException.class);
		assertThat(orders()).isEqualTo(1);
		assertThat(fence(1)).as("the first one is over").isNull();
	}

	@Test
	void commitsWhereverItIsSubscribedTo() {
		Sinks.One<String> later = Sinks.one();
		Mono<String> result = this.application.stock().lockedInTransaction(() -> later.asMono().then(order())).cache();
		result.subscribe();
		later.tryEmitValue("now");
		assertThat(run(result)).isEqualTo("ordered");
		assertThat(fence(0)).isNotNull();
	}

}
