package dev.dblock.scenario;

import com.mongodb.MongoException;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoCollection;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.mongodb.LockFence;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Transactions of sessions that the application manages itself.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class LockFenceTests {

	private Instances instances;

	private Instance other;

	private FencedApplication application;

	private MongoCollection<Document> orders;

	private LockFence fence;

	private LockHandle lock;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
		this.other = this.instances.start("other");
		this.application = FencedApplication.start(this.instances, "application");
		this.orders = this.application.mongo().getCollection("orders");
		this.fence = this.application.bean(LockFence.class);
		this.lock = this.application.locks().acquire("stock");
		this.instances.collection(Instance.FENCES).insertOne(new Document("_id", "made before the first transaction"));
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	private ClientSession session() {
		return this.application.bean(MongoClient.class).startSession();
	}

	private LockHandle overtake() {
		this.instances.expire("stock");
		return this.other.locks().acquire("stock");
	}

	private void order(ClientSession session) {
		session.startTransaction();
		this.orders.insertOne(session, new Document());
	}

	@Test
	void transactionOfTheHolderIsCommitted() {
		try (ClientSession session = session()) {
			for (int i = 0; i < 6; i++) {
				order(session);
				this.fence.fence(session, this.lock);
				session.commitTransaction();
			}
		}
		assertThat(this.orders.countDocuments()).isEqualTo(6);
		assertThat(this.lock.release()).isTrue();
		assertThat(this.instances.document("stock")).containsEntry("fencePending", true);
		this.other.locks().acquire("stock").release();
		assertThat(this.instances.document("stock")).containsEntry("fencePending", false);
	}

	@Test
	void moreSessionsThanSlotsFollowOneAnother() {
		for (int i = 0; i < 6; i++) {
			try (ClientSession session = session()) {
				order(session);
				this.fence.fence(session, this.lock);
				session.commitTransaction();
			}
		}
		assertThat(this.orders.countDocuments()).isEqualTo(6);
	}

	@Test
	void staleTransactionIsNotCommitted() {
		try (ClientSession session = session()) {
			order(session);
			overtake();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.fence.fence(session, this.lock));
			session.abortTransaction();
			order(session);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.fence.fence(session, this.lock));
		}
		assertThat(this.orders.countDocuments()).isZero();
	}

	@Test
	void takeOverWaitsForTheCommit() throws Exception {
		try (ClientSession session = session()) {
			order(session);
			this.fence.fence(session, this.lock);
			Work<Long> next = Work.start(() -> {
				overtake();
				return this.instances.collection("orders").countDocuments();
			});
			Instances.eventually().until(() -> !this.other.commands().to(Instance.FENCES).isEmpty());
			assertThat(next.isDone()).isFalse();
			session.commitTransaction();
			assertThat(next.result()).isEqualTo(1);
		}
	}

	@Test
	void nextHolderWaitsForTheCommitAlsoAfterARelease() throws Exception {
		try (ClientSession session = session()) {
			order(session);
			this.fence.fence(session, this.lock);
			assertThat(this.lock.release()).isTrue();
			Work<Long> next = Work.start(() -> {
				this.other.locks().acquire("stock");
				return this.instances.collection("orders").countDocuments();
			});
			Instances.eventually().until(() -> !this.other.commands().to(Instance.FENCES).isEmpty());
			assertThat(next.isDone()).isFalse();
			session.commitTransaction();
			assertThat(next.result()).isEqualTo(1);
		}
	}

	@Test
	void driversOwnRetryChecksTheLockAgain() {
		int[] attempts = new int[1];
		try (ClientSession session = session()) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> session.withTransaction(() -> {
				this.orders.insertOne(session, new Document());
				this.fence.fence(session, this.lock);
				if (++attempts[0] == 1) {
					overtakeAfterTheEndOf(session);
					MongoException transientFailure = new MongoException("scripted");
					transientFailure.addLabel(MongoException.TRANSIENT_TRANSACTION_ERROR_LABEL);
					throw transientFailure;
				}
				return true;
			}));
		}
		assertThat(attempts[0]).isEqualTo(1);
		assertThat(this.orders.countDocuments()).isZero();
	}

	private void overtakeAfterTheEndOf(ClientSession session) {
		session.abortTransaction();
		overtake();
	}

	@Test
	void sessionWithoutATransactionIsRefused() {
		try (ClientSession session = session()) {
			assertThatIllegalStateException().isThrownBy(() -> this.fence.fence(session, this.lock))
				.withMessageContaining("'stock'")
				.withMessageContaining("startTransaction");
		}
	}

	@Test
	void fenceThatIsSwitchedOffIsRefused() {
		FencedApplication unfenced = FencedApplication.start(this.instances, "unfenced",
				"dblock.mongodb.fence-transactions=false");
		try (ClientSession session = unfenced.bean(MongoClient.class).startSession()) {
			session.startTransaction();
			assertThatIllegalStateException()
				.isThrownBy(() -> unfenced.bean(LockFence.class).fence(session, unfenced.locks().acquire("other")))
				.withMessageContaining("dblock.mongodb.fence-transactions");
		}
	}

}
