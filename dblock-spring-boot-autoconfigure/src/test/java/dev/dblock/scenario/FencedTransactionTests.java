package dev.dblock.scenario;

import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockTemplate;
import dev.dblock.LossReason;
import dev.dblock.scenario.SentCommands.Sent;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Transactions of a holder that another one has overtaken, while it still believes in its
 * lease.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class FencedTransactionTests {

	private static final String ORDERS = "orders";

	private static final String FENCES = "dblock_fences";

	private Instances instances;

	private Instance other;

	private FencedApplication application;

	private LockTemplate locks;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
		this.other = this.instances.start("other");
		this.application = FencedApplication.start(this.instances, "application");
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
	 * Have the holder overtaken, by the server's clock and unseen by it.
	 */
	private LockHandle overtake() {
		this.instances.expire("stock");
		return this.other.locks().acquire("stock");
	}

	private Document fence(int slot) {
		return this.instances.collection(FENCES)
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
	void transactionThatGoesOnDuringTheTakeOverIsNotCommitted(boolean earlier) {
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
		assertThat(stale.isHeld()).as("nobody has told it yet").isTrue();
		assertLost(() -> inTransaction(this::order));
		assertThat(orders()).isEqualTo(before + 1);
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void takeOverWaitsForTheRollbackThatCameFirst(boolean earlier) throws Exception {
		this.locks.acquire("stock");
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
	}

	private void awaitRaise() {
		Instances.eventually().until(() -> !this.other.commands().to(FENCES).isEmpty());
	}

	@Test
	void takeOverRaisesAllSlotsInOneCommandBeforeItIsGranted() {
		this.locks.acquire("stock");
		LockHandle successor = overtake();
		assertThat(this.other.commands().to(FENCES)).extracting(Sent::command).containsExactly("update");
		for (int slot = 0; slot < 4; slot++) {
			assertThat(fence(slot)).containsEntry("token", successor.token()).containsKey("updatedAt");
		}
		assertThat(this.instances.document("stock")).containsEntry("fencePending", true);
		successor.renew();
		assertThat(this.instances.document("stock")).containsEntry("fencePending", false);
		successor.release();
		assertThat(this.other.locks().tryAcquire("stock")).isPresent();
		assertThat(this.other.commands().to(FENCES)).hasSize(1);
	}

	@Test
	void releaseAfterARaisedFenceClearsTheMark() {
		this.locks.acquire("stock");
		overtake().release();
		assertThat(this.instances.document("stock")).containsEntry("fencePending", false);
		this.other.locks().acquire("stock").release();
		assertThat(this.other.commands().to(FENCES)).hasSize(1);
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
		assertThat(this.instances.collection(FENCES).countDocuments()).isEqualTo(1);
		assertThat(lock.release()).isTrue();
		assertThat(this.instances.document("stock").getBoolean("fencePending", false)).isFalse();
	}

}
