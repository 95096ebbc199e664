package dev.dblock.scenario;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import com.mongodb.MongoException;
import com.mongodb.TransactionOptions;
import com.mongodb.WriteConcern;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.WhenLost;
import dev.dblock.scenario.SentCommands.Sent;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;
import org.springframework.data.mongodb.core.query.Criteria;
import org.springframework.data.mongodb.core.query.Query;
import org.springframework.data.mongodb.core.query.Update;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Transactions of a holder that another one has overtaken, while it still believes in its
 * lease.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class FencedTransactionTests {

	private static final String ORDERS = "orders";

	private Instances instances;

	private Instance other;

	private FencedApplication application;

	private LockTemplate locks;

	/** Whose locks are not taken for forgotten. */
	private final List<LockHandle> held = new ArrayList<>();

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
		this.other = this.instances.start("other");
		this.application = FencedApplication.start(this.instances, "application", "dblock.lease=10m",
				"dblock.handoff.max-time=1m");
		this.locks = this.application.locks();
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	private void order() {
		this.application.mongo().insert(new Document(), ORDERS);
	}

	private long orders() {
		return this.instances.collection(ORDERS).countDocuments();
	}

	private void inTransaction(Runnable work) {
		this.application.inTransaction(work);
	}

	/**
	 * Let the lease expire by the server's clock, unnoticed by the holder, and let
	 * another holder take over.
	 */
	private LockHandle overtake() {
		this.instances.expire("stock");
		return hold(this.other.locks());
	}

	private void hold() {
		hold(this.locks);
	}

	private LockHandle hold(LockTemplate locks) {
		LockHandle handle = locks.acquire("stock");
		this.held.add(handle);
		return handle;
	}

	private Document fence(int slot) {
		return this.instances.collection(Instance.FENCES)
			.find(new Document("_id", new Document("name", "stock").append("slot", slot)))
			.first();
	}

	private void withEarlierFence(boolean earlier) {
		if (earlier) {
			inTransaction(this::order);
			assertThat(fence(0)).isNotNull();
		}
		else {
			assertThat(fence(0)).isNull();
		}
	}

	private void assertLost(Runnable stale) {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(stale::run)
			.satisfies((lost) -> assertThat(lost.name()).isEqualTo("stock"))
			.extracting(LockLostException::reason)
			.isEqualTo(LossReason.TAKEN_OVER);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void transactionThatBeginsAfterTheTakeOverIsNotCommitted(boolean earlier) {
		LockHandle stale = this.locks.acquire("stock");
		withEarlierFence(earlier);
		long before = orders();
		LockHandle successor = overtake();
		assertThat(stale.isHeld()).as("what the holder believes").isTrue();
		assertLost(() -> inTransaction(this::order));
		assertThat(orders()).isEqualTo(before);
		assertThat(stale.isHeld()).isFalse();
		assertThat(stale.release()).isFalse();
		successor.ensureHeld();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void transactionThatContinuesDuringTheTakeOverIsNotCommitted(boolean earlier) {
		LockHandle stale = this.locks.acquire("stock");
		withEarlierFence(earlier);
		long before = orders();
		assertLost(() -> inTransaction(() -> {
			order();
			overtake();
			order();
		}));
		assertThat(orders()).isEqualTo(before);
		assertThat(stale.isHeld()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "stock", "warehouse" })
	void transactionUnderSeveralLocksIsNotCommittedOnceOneOfThemWasTakenOver(String taken) {
		List<String> both = List.of("warehouse", "stock");
		this.locks.executeAll(both, () -> inTransaction(this::order));
		assertThat(orders()).isEqualTo(1);
		assertThat(this.instances.collection(Instance.FENCES).countDocuments(new Document("_id.slot", 0))).isEqualTo(2);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.locks.executeAll(both, () -> inTransaction(() -> {
				order();
				this.instances.expire(taken);
				this.other.locks().acquire(taken);
			})))
			.satisfies((lost) -> assertThat(lost.name()).isEqualTo(taken));
		assertThat(orders()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void takeOverWaitsForTheCommitThatCameFirst(boolean earlier) throws Exception {
		LockHandle stale = this.locks.acquire("stock");
		withEarlierFence(earlier);
		long before = orders();
		Work<Long> takeOver = this.application.beforeNextCommit(() -> {
			Work<Long> started = Work.start(() -> {
				LockHandle successor = overtake();
				long seen = orders();
				successor.release();
				return seen;
			});
			awaitRaise();
			assertThat(started.isDone()).isFalse();
			return started;
		}, () -> inTransaction(this::order));
		assertThat(takeOver.result()).as("what the next holder sees").isEqualTo(before + 1);
		assertThat(stale.isHeld()).as("not noticed yet").isTrue();
		assertLost(() -> inTransaction(this::order));
		assertThat(orders()).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void takeOverWaitsForTheRollbackThatCameFirst(boolean earlier) throws Exception {
		LockHandle stale = this.locks.acquire("stock");
		withEarlierFence(earlier);
		long before = orders();
		Work<?>[] takeOver = new Work<?>[1];
		assertThatIllegalStateException().isThrownBy(() -> this.application.beforeNextCommit(() -> {
			takeOver[0] = Work.start(this::overtake);
			awaitRaise();
			assertThat(takeOver[0].isDone()).isFalse();
			throw new IllegalStateException("rolled back");
		}, () -> inTransaction(this::order)));
		takeOver[0].result();
		assertThat(orders()).isEqualTo(before);
		assertThat(stale.release()).isFalse();
	}

	/**
	 * The driver sends no roll-back from an interrupted thread, so the next holder would
	 * wait until the server ends the transaction.
	 */
	@Test
	void interruptedThreadRollsBack() {
		hold();
		assertThatIllegalStateException().isThrownBy(() -> inTransaction(() -> {
			order();
			Thread.currentThread().interrupt();
			throw new IllegalStateException("rolled back");
		}));
		assertInterruptedAfter("abortTransaction");
		assertThat(orders()).isZero();
	}

	@Test
	void interruptedThreadCommits() {
		hold();
		boolean[] seen = new boolean[1];
		inTransaction(() -> {
			order();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					seen[0] = Thread.currentThread().isInterrupted();
				}

			});
			Thread.currentThread().interrupt();
		});
		assertThat(seen[0]).as("interrupted after the commit").isTrue();
		assertInterruptedAfter("commitTransaction");
		assertThat(orders()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void interruptedThreadRollsBackWhenItsCommitIsRefused(boolean known) {
		assertLost(() -> inTransaction(() -> {
			LockHandle stale = this.locks.acquire("stock");
			order();
			overtake();
			if (known) {
				assertLost(stale::renew);
			}
			Thread.currentThread().interrupt();
		}));
		assertInterruptedAfter("abortTransaction");
		assertThat(orders()).isZero();
	}

	@Test
	void lossThatRefusesACommitInterruptsAfterTheRollback() {
		LockOptions options = LockOptions.defaults().whenLost(WhenLost.INTERRUPT);
		assertLost(() -> this.locks.execute("stock", options, () -> {
			assertLost(() -> inTransaction(() -> {
				order();
				overtake();
			}));
			assertInterruptedAfter("abortTransaction");
		}));
		assertThat(orders()).isZero();
	}

	private void assertInterruptedAfter(String command) {
		assertThat(Thread.interrupted()).isTrue();
		assertThat(this.application.commands().answers(command)).isOne();
	}

	@Test
	void locksOnAClientOfTheirOwnFenceTheTransactionsOfTheApplication() {
		FencedApplication application = FencedApplication.start(this.instances, "dedicated", "dblock.lease=10m",
				"dblock.mongodb.database-factory=lockDatabaseFactory");
		LockHandle stale = application.locks().acquire("stock");
		application.inTransaction(() -> application.mongo().insert(new Document(), ORDERS));
		assertThat(fence(0)).containsEntry("token", stale.token());
		long before = orders();
		assertLost(() -> application.inTransaction(() -> {
			application.mongo().insert(new Document(), ORDERS);
			overtake();
		}));
		assertThat(orders()).isEqualTo(before);
		assertThat(stale.isHeld()).isFalse();
	}

	private void awaitRaise() {
		Instances.eventually().until(() -> !this.other.commands().fences().isEmpty());
	}

	@Test
	void takeOverRaisesAllSlotsInOneCommandBeforeItIsGranted() {
		LockHandle stale = this.locks.acquire("stock");
		LockHandle successor = overtake();
		assertThat(this.other.commands().fences()).extracting(Sent::command).containsExactly("update");
		for (int slot = 0; slot < 4; slot++) {
			assertThat(fence(slot)).containsEntry("token", successor.token()).containsKey("updatedAt");
		}
		assertThat(this.instances.document("stock")).containsEntry("fencePending", true);
		assertThat(stale.release()).isFalse();
		successor.renew();
		assertThat(this.instances.document("stock")).containsEntry("fencePending", false);
		successor.release();
		assertThat(this.other.locks().tryAcquire("stock")).isPresent();
		assertThat(this.other.commands().fences()).hasSize(1);
	}

	@Test
	void releaseAfterARaisedFenceClearsTheMark() {
		LockHandle stale = this.locks.acquire("stock");
		LockHandle successor = overtake();
		assertThat(stale.release()).isFalse();
		successor.release();
		assertThat(this.instances.document("stock")).containsEntry("fencePending", false);
		this.other.locks().acquire("stock").release();
		assertThat(this.other.commands().fences()).hasSize(1);
	}

	@Test
	void commitsUnderOneHandleFollowOneAnother() {
		LockHandle lock = this.locks.acquire("stock");
		for (int i = 1; i <= 6; i++) {
			inTransaction(this::order);
			assertThat(fence(0)).containsEntry("token", lock.token());
			assertThat(fence(0).get("writes", Number.class).intValue()).isEqualTo(i);
		}
		assertThat(orders()).isEqualTo(6);
		assertThat(this.instances.collection(Instance.FENCES).countDocuments()).isEqualTo(1);
		assertThat(lock.release()).isTrue();
		assertThat(this.instances.document("stock").getBoolean("fencePending", false)).isFalse();
	}

	@Test
	void transactionOfALockedMethodIsFencedAndAStaleOneIsNotCommitted() {
		FencedApplication.Stock stock = this.application.bean(FencedApplication.Stock.class);
		stock.reserveInTransaction(this::order);
		assertThat(orders()).isEqualTo(1);
		assertThat(this.instances.isReleased("stock")).isTrue();
		assertLost(() -> stock.reserveInTransaction(() -> {
			order();
			overtake();
		}));
		assertThat(orders()).isEqualTo(1);
	}

	@Test
	void lockedMethodInsideATransactionFencesIt() {
		FencedApplication.Stock stock = this.application.bean(FencedApplication.Stock.class);
		FencedApplication.Transactions transactions = this.application.bean(FencedApplication.Transactions.class);
		transactions.required(() -> stock.reserve(this::order));
		assertThat(orders()).isEqualTo(1);
		assertThat(fence(0)).isNotNull();
		assertLost(() -> transactions.required(() -> {
			stock.reserve(this::order);
			overtake();
		}));
		assertThat(orders()).isEqualTo(1);
	}

	/**
	 * It has read older data than the previous holder has committed.
	 */
	@Test
	void transactionOlderThanItsLockMeetsTheCommitOfTheHolderBefore() {
		FencedApplication second = FencedApplication.start(this.instances, "second");
		assertThatExceptionOfType(DataIntegrityViolationException.class).isThrownBy(() -> inTransaction(() -> {
			assertThat(this.application.mongo().findAll(Document.class, ORDERS)).isEmpty();
			CompletableFuture
				.runAsync(() -> second.locks()
					.execute("stock", () -> second.inTransaction(() -> second.mongo().insert(new Document(), ORDERS))))
				.join();
			hold();
			order();
		}))
			.havingRootCause()
			.isInstanceOfSatisfying(MongoException.class,
					(ex) -> assertThat(ex.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL)).isTrue());
		assertThat(orders()).as("of the holder before").isEqualTo(1);
		assertThat(this.held).allMatch(LockHandle::isHeld);
		inTransaction(this::order);
		assertThat(orders()).isEqualTo(2);
	}

	/**
	 * As docs/transactions.md says: Spring calls it not transient, and only the label of
	 * its cause shows that a retry can succeed.
	 */
	@Test
	void conflictOnDataIsTransientOnlyByTheLabelOfItsCause() {
		this.application.mongo().insert(new Document("_id", "conflict"), ORDERS);
		inTransaction(() -> {
			updateConflict();
			assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> CompletableFuture.runAsync(() -> this.application.inTransaction(this::updateConflict))
					.join())
				.withCauseInstanceOf(DataIntegrityViolationException.class)
				.havingRootCause()
				.isInstanceOfSatisfying(MongoException.class,
						(ex) -> assertThat(ex.hasErrorLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL))
							.isTrue());
		});
	}

	private void updateConflict() {
		this.application.mongo()
			.updateFirst(Query.query(Criteria.where("_id").is("conflict")), new Update().inc("count", 1), ORDERS);
	}

	@Test
	void innerTransactionsAreFencedBesideTheOuterOne() {
		LockHandle lock = this.locks.acquire("stock");
		inTransaction(() -> {
			order();
			this.application.inNewTransaction(() -> {
				order();
				this.application.inNewTransaction(this::order);
			});
			this.application.inNewTransaction(this::order);
		});
		assertThat(orders()).isEqualTo(4);
		for (int slot = 0; slot < 3; slot++) {
			assertThat(fence(slot)).containsEntry("token", lock.token());
		}
		assertThat(fence(3)).isNull();
	}

	@Test
	void innerTransactionIsCommittedAndTheOuterOneIsNotWhenTheTakeOverComesBetween() {
		hold();
		assertLost(() -> inTransaction(() -> {
			order();
			this.application.inNewTransaction(this::order);
			overtake();
			assertThat(orders()).isEqualTo(1);
		}));
		assertThat(orders()).isEqualTo(1);
	}

	@Test
	void fifthTransactionAtATimeIsRefused() {
		hold();
		inTransaction(() -> this.application
			.inNewTransaction(() -> this.application.inNewTransaction(() -> this.application.inNewTransaction(() -> {
				order();
				assertThatIllegalStateException().isThrownBy(() -> this.application.inNewTransaction(this::order))
					.withMessageContaining("'stock'")
					.withMessageContaining("4 others");
			}))));
		assertThat(orders()).isEqualTo(1);
	}

	@Test
	void readOnlyTransactionCarriesNoFence() {
		hold();
		this.application.bean(FencedApplication.Transactions.class)
			.readOnly(() -> assertThat(this.application.mongo().findAll(Document.class, ORDERS)).isEmpty());
		assertThat(this.application.commands().fences()).isEmpty();
	}

	/**
	 * The collection is made at the first transaction.
	 */
	@Test
	void nothingIsSentForAFenceWhereThereIsNoLockOrNoTransaction() {
		inTransaction(this::order);
		this.locks.execute("stock", this::order);
		assertThat(this.application.commands().fences()).isEmpty();
		assertThat(this.application.commands().to(Instance.FENCES)).hasSizeLessThanOrEqualTo(1);
	}

	@Test
	void fenceIsOneCommandOfTheTransaction() {
		this.locks.execute("stock", () -> inTransaction(this::order));
		this.application.commands().assertFencedOnce(ORDERS);
	}

	@Test
	void secondCommitWithTheSameTokenMakesTheTakeOverWaitToo() throws Exception {
		hold();
		inTransaction(this::order);
		Work<Long> takeOver = this.application.beforeNextCommit(() -> {
			Work<Long> started = Work.start(() -> {
				overtake();
				return orders();
			});
			awaitRaise();
			assertThat(started.isDone()).isFalse();
			return started;
		}, () -> inTransaction(this::order));
		assertThat(takeOver.result()).isEqualTo(2);
	}

	@Test
	void parallelTransactionsUnderOneHandleDoNotCollide() throws Exception {
		LockHandle lock = this.locks.acquire("stock");
		inTransaction(() -> {
			order();
			// The commit of the inner one has come after the snapshot of the outer one
			this.application.inNewTransaction(this::order);
			this.application.mongo().findAll(Document.class, ORDERS);
			this.application.inNewTransaction(this::order);
		});
		assertThat(orders()).isEqualTo(3);
		lock.ensureHeld();
	}

	@Test
	void handleClosedDuringATransactionIsReleasedAfterIt() {
		LockHandle lock = this.locks.acquire("stock");
		inTransaction(() -> {
			order();
			assertThat(lock.release()).isTrue();
			assertThat(this.other.locks().tryAcquire("stock")).isEmpty();
		});
		assertThat(orders()).isEqualTo(1);
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

	@Test
	void lockIsHandedOverOnlyAfterTheTransaction() throws Exception {
		LockHandle lock = this.locks.acquire("stock");
		Work<LockHandle> next = Work
			.start(() -> this.locks.acquire("stock", LockOptions.defaults().waitUpTo(Duration.ofSeconds(50))));
		next.awaitWaiting();
		inTransaction(() -> {
			order();
			lock.close();
			assertThat(next.isDone()).isFalse();
		});
		LockHandle handed = next.result();
		assertThat(handed.token()).isEqualTo(lock.token() + 1);
		assertThat(orders()).isEqualTo(1);
	}

	@Test
	void lockThatIsLostDuringATransactionIsNotReleasedBeforeItEnds() {
		LockHandle lock = this.locks.acquire("stock", LockOptions.lease(Duration.ofSeconds(3)).autoRenew(false));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inTransaction(() -> {
			order();
			Instances.eventually().until(() -> !lock.isHeld());
			assertThat(lock.release()).isFalse();
			assertThat(this.instances.document("stock")).containsKey("holder");
		}));
		assertThat(orders()).isZero();
		Instances.eventually().until(() -> this.instances.isReleased("stock"));
	}

	@Test
	void renewalsDisturbNoTransaction() {
		LockHandle lock = this.locks.acquire("stock");
		inTransaction(() -> {
			order();
			lock.renew();
			order();
			lock.renew();
		});
		assertThat(orders()).isEqualTo(2);
	}

	@Test
	void forcedReleaseHasTheNextHolderRaiseTheFence() {
		LockHandle robbed = this.locks.acquire("stock");
		this.other.locks().forceReleaseNow("stock");
		hold(this.other.locks());
		assertThat(robbed.isHeld()).isTrue();
		assertLost(() -> inTransaction(this::order));
		assertThat(orders()).isZero();
	}

	@Test
	void applicationsOfTheSameKindKeepOneAnotherFromStaleCommits() {
		FencedApplication second = FencedApplication.start(this.instances, "second");
		LockHandle stale = this.locks.acquire("stock");
		this.instances.expire("stock");
		second.locks()
			.execute("stock", () -> second.inTransaction(() -> second.mongo().insert(new Document(), ORDERS)));
		assertLost(() -> inTransaction(this::order));
		assertLost(() -> inTransaction(this::order));
		stale.release();
		assertThat(orders()).isEqualTo(1);
		assertThat(this.instances.document("stock")).containsEntry("fencePending", false);
		this.locks.execute("stock", () -> inTransaction(this::order));
		assertThat(orders()).isEqualTo(2);
	}

	@Test
	void withoutTheFenceAStaleTransactionIsCommittedAndTheMarkStays() {
		FencedApplication second = FencedApplication.start(this.instances, "second",
				"dblock.mongodb.fence-transactions=false");
		LockHandle stale = second.locks().acquire("stock");
		LockHandle successor = overtake();
		successor.renew();
		second.inTransaction(() -> second.mongo().insert(new Document(), ORDERS));
		assertThat(orders()).as("of a stale holder").isEqualTo(1);
		assertThat(stale.release()).isFalse();
		this.instances.expire("stock");
		second.locks().acquire("stock").release();
		assertThat(this.instances.document("stock")).containsEntry("fencePending", true);
		assertThat(second.commands().to(Instance.FENCES)).isEmpty();
	}

	@Test
	void transactionOnAnotherDatabaseOfTheSameServersIsFenced() {
		FencedApplication.Elsewhere elsewhere = new FencedApplication.Elsewhere(this.application, this.instances.uri());
		hold();
		try (elsewhere) {
			elsewhere.insertInTransaction();
			assertThat(fence(0)).isNotNull();
			overtake();
			assertLost(elsewhere::insertInTransaction);
			assertThat(elsewhere.count()).isEqualTo(1);
		}
	}

	/**
	 * Those servers do not exist: a fence that was sent there would fail.
	 */
	@Test
	void transactionOfOtherServersIsNotFencedAndRefusedOnceTheLeaseHasExpired() {
		try (MongoClient client = MongoClients
			.create("mongodb://localhost:1/?replicaSet=none&serverSelectionTimeoutMS=1")) {
			TransactionTemplate elsewhere = this.application
				.transactionsOn(new SimpleMongoClientDatabaseFactory(client, "elsewhere"));
			LockHandle overtaken = this.locks.acquire("stock");
			elsewhere.executeWithoutResult((status) -> overtake());
			assertThat(overtaken.release()).isFalse();
			LockHandle ended = this.locks.acquire("warehouse",
					LockOptions.lease(Duration.ofSeconds(3)).autoRenew(false));
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> elsewhere
					.executeWithoutResult((status) -> Instances.eventually().until(() -> !ended.isHeld())))
				.satisfies((lost) -> assertThat(lost.name()).isEqualTo("warehouse"))
				.extracting(LockLostException::reason)
				.isEqualTo(LossReason.EXPIRED);
		}
		assertThat(this.application.commands().fences()).isEmpty();
	}

	@Test
	void weakWriteConcernIsCommittedAllTheSame() {
		hold();
		this.application.bean(MongoTransactionManager.class)
			.setOptions(TransactionOptions.builder().writeConcern(WriteConcern.W1).build());
		inTransaction(this::order);
		inTransaction(this::order);
		assertThat(orders()).isEqualTo(2);
	}

}
