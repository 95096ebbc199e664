package dev.dblock.scenario;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

import com.mongodb.MongoException;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockOptions;
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
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.transaction.TransactionSystemException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Fences, commits and take-overs whose answers are missing or errors.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1, faults = true)
class DisturbedTransactionTests {

	private static final String ORDERS = "orders";

	private static final String TRANSIENT = "TransientTransactionError";

	private static final int WRITE_CONFLICT = 112;

	private static final int NO_SUCH_TRANSACTION = 251;

	private static final int WRITE_CONCERN_TIMEOUT = 64;

	private static final int UNSATISFIABLE_WRITE_CONCERN = 100;

	private static final int SHUTDOWN_IN_PROGRESS = 91;

	private MongoServer server;

	private Instances instances;

	private Instance other;

	private FencedApplication application;

	private LockHandle lock;

	@BeforeEach
	void start(MongoServer server) {
		this.server = server;
		this.instances = new Instances(server);
		this.other = this.instances.start("other");
		this.application = FencedApplication.start(this.instances, "application");
		this.lock = this.application.locks().acquire("stock");
		this.application.inTransaction(this::order);
	}

	@AfterEach
	void stop() throws Exception {
		this.server.clearFailPoints();
		this.instances.close();
	}

	private void order() {
		this.application.mongo().insert(new Document(), ORDERS);
	}

	private long orders() {
		return this.instances.collection(ORDERS).countDocuments();
	}

	private Document fence(int slot) {
		return this.instances.collection(Instance.FENCES)
			.find(new Document("_id", new Document("name", "stock").append("slot", slot)))
			.first();
	}

	private FailCommand onFences(String command) {
		return FailCommand.on(command).forCollection(this.application.mongo().getDb().getName(), Instance.FENCES);
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

	private static boolean isTransient(Throwable thrown) {
		for (Throwable cause = thrown; cause != null; cause = cause.getCause()) {
			if (cause instanceof MongoException mongo && mongo.hasErrorLabel(TRANSIENT)) {
				return true;
			}
		}
		return false;
	}

	@Test
	void commitWhoseOutcomeIsUnknownHasTheNextHolderRaiseTheFence() {
		this.server.failCommand(FailCommand.on("commitTransaction").writeConcernError(SHUTDOWN_IN_PROGRESS).times(2));
		assertThatExceptionOfType(TransactionSystemException.class)
			.isThrownBy(() -> this.application.inTransaction(this::order))
			.havingCause()
			.isInstanceOfSatisfying(MongoException.class,
					(ex) -> assertThat(ex.hasErrorLabel(MongoException.UNKNOWN_TRANSACTION_COMMIT_RESULT_LABEL))
						.isTrue());
		assertThat(this.lock.isHeld()).isTrue();
		this.application.inTransaction(this::order);
		assertThat(fence(1)).as("another slot than the one in doubt").isNotNull();
		assertThat(this.lock.release()).isTrue();
		assertThat(this.instances.document("stock")).containsEntry("fencePending", true);
		LockHandle next = this.other.locks().acquire("stock");
		assertThat(fence(0)).containsEntry("token", next.token());
		next.release();
		assertThat(this.instances.document("stock")).containsEntry("fencePending", false);
		assertThat(orders()).as("the server had done it").isEqualTo(3);
	}

	@Test
	void nextHolderWaitsForACommitThatMayStillCome() throws Exception {
		this.server.failCommand(FailCommand.on("commitTransaction").closeConnection().times(2));
		assertThatExceptionOfType(TransactionSystemException.class)
			.isThrownBy(() -> this.application.inTransaction(this::order));
		assertThat(this.lock.release()).isTrue();
		Work<Optional<LockHandle>> next = Work.start(() -> this.other.locks().tryAcquire("stock"));
		Instances.eventually().until(() -> !this.other.commands().fences().isEmpty());
		assertThat(next.isDone()).isFalse();
		assertThat(this.application.locks().tryAcquire("stock")).as("a plain refusal meanwhile").isEmpty();
		endOpenTransactions();
		assertThat(next.result()).isPresent();
		assertThat(orders()).isEqualTo(1);
	}

	@Test
	void commitThatTheServerHasEndedIsRepeatedInTheSameSlot() {
		this.server.failCommand(
				FailCommand.on("commitTransaction").errorCode(NO_SUCH_TRANSACTION).errorLabels(TRANSIENT).times(1));
		assertThatExceptionOfType(TransactionSystemException.class)
			.isThrownBy(() -> this.application.inTransaction(this::order))
			.satisfies((ex) -> assertThat(isTransient(ex)).isTrue());
		endOpenTransactions();
		this.application.inTransaction(this::order);
		assertThat(orders()).isEqualTo(2);
		assertThat(fence(1)).isNull();
		assertThat(this.lock.release()).isTrue();
		assertThat(this.instances.document("stock").getBoolean("fencePending", false)).isFalse();
	}

	@Test
	void repeatedTransactionChecksTheLockAgain() {
		this.server.failCommand(
				FailCommand.on("commitTransaction").errorCode(NO_SUCH_TRANSACTION).errorLabels(TRANSIENT).times(1));
		assertThatExceptionOfType(TransactionSystemException.class)
			.isThrownBy(() -> this.application.inTransaction(this::order));
		endOpenTransactions();
		this.instances.expire("stock");
		this.other.locks().acquire("stock");
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.application.inTransaction(this::order));
		assertThat(orders()).isEqualTo(1);
	}

	@Test
	void conflictUnderALockThatIsStillHeldIsTransient() {
		this.server.failCommand(onFences("findAndModify").errorCode(WRITE_CONFLICT).errorLabels(TRANSIENT).times(1));
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> this.application.inTransaction(this::order))
			.satisfies((ex) -> assertThat(isTransient(ex)).isTrue());
		assertThat(this.lock.isHeld()).isTrue();
		this.application.inTransaction(this::order);
		assertThat(orders()).isEqualTo(2);
		assertThat(fence(1)).isNull();
	}

	@Test
	void fenceWithoutAnAnswerRetiresTheSlot() {
		this.server.failCommand(onFences("findAndModify").closeConnection().times(1));
		assertThatExceptionOfType(DataAccessResourceFailureException.class)
			.isThrownBy(() -> this.application.inTransaction(this::order));
		assertThat(this.lock.isHeld()).isTrue();
		this.application.inTransaction(this::order);
		assertThat(fence(1)).isNotNull();
		assertThat(orders()).isEqualTo(2);
		assertThat(this.lock.release()).isTrue();
		assertThat(this.instances.document("stock")).containsEntry("fencePending", true);
	}

	@Test
	void lockWhoseFenceCannotBeRaisedIsNotGranted() {
		this.instances.expire("stock");
		this.server.failCommand(onFences("update").closeConnection());
		assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> this.other.locks().tryAcquire("stock"))
			.withMessageContaining("'stock'")
			.withMessageContaining("fence");
		Instances.eventually().until(() -> this.instances.isReleased("stock"));
		assertThat(this.instances.document("stock")).containsEntry("fencePending", true);
		this.server.clearFailPoints();
		LockHandle next = this.other.locks().acquire("stock");
		assertThat(fence(3)).containsEntry("token", next.token());
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.application.inTransaction(this::order));
		assertThat(orders()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(ints = { WRITE_CONCERN_TIMEOUT, UNSATISFIABLE_WRITE_CONCERN })
	void waiterAsksAgainWhenNoMajorityHasConfirmedTheRaise(int error) {
		this.instances.expire("stock");
		this.server.failCommand(onFences("update").writeConcernError(error).times(1));
		LockHandle next = this.other.locks().acquire("stock", LockOptions.defaults().waitUpTo(Duration.ofMinutes(1)));
		assertThat(this.other.commands().fences()).extracting(Sent::command).containsExactly("update", "update");
		assertThat(fence(3)).containsEntry("token", next.token());
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.application.inTransaction(this::order));
		assertThat(orders()).isEqualTo(1);
	}

}
