package dev.dblock.scenario;

import java.util.List;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.LockTemplate;
import dev.dblock.scenario.SentCommands.Sent;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.mongodb.core.MongoTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Locks that are taken inside of the application's transactions on the same database.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class TransactionTests {

	private static final String ORDERS = "orders";

	private Instances instances;

	private Instance other;

	private FencedApplication.Transactions transactions;

	private FencedApplication.Stock stock;

	private LockTemplate locks;

	private MongoTemplate mongo;

	private SentCommands commands;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
		this.other = this.instances.start("other");
		ConfigurableApplicationContext application = this.instances.startApplication("application",
				FencedApplication.TransactionConfiguration.class);
		this.transactions = application.getBean(FencedApplication.Transactions.class);
		this.stock = application.getBean(FencedApplication.Stock.class);
		this.locks = application.getBean(LockTemplate.class);
		this.mongo = application.getBean(MongoTemplate.class);
		this.commands = application.getBean(SentCommands.class);
		this.mongo.createCollection(ORDERS);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	private void order() {
		this.mongo.insert(new Document(), ORDERS);
	}

	private long orders() {
		return this.instances.collection(ORDERS).countDocuments();
	}

	private boolean isTaken(String name) {
		return this.other.locks().tryAcquire(name).map(LockHandle::release).isEmpty();
	}

	@Test
	void lockOfAMethodInsideATransactionIsKeptUntilTheCommit() {
		this.transactions.required(() -> {
			this.stock.reserve(this::order);
			assertThat(orders()).as("visible to others").isZero();
			assertThat(isTaken("stock")).isTrue();
		});
		assertThat(orders()).isEqualTo(1);
		assertThat(this.instances.isReleased("stock")).isTrue();
		assertThat(isTaken("stock")).isFalse();
	}

	@Test
	void lockOfAMethodInsideATransactionIsKeptUntilTheRollback() {
		assertThatIllegalStateException().isThrownBy(() -> this.transactions.required(() -> {
			this.stock.reserve(this::order);
			assertThat(isTaken("stock")).isTrue();
			throw new IllegalStateException("rolled back");
		})).withMessage("rolled back");
		assertThat(orders()).isZero();
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

	@Test
	void handleThatIsClosedInsideATransactionIsKeptUntilTheCommit() {
		this.transactions.required(() -> {
			try (LockHandle handle = this.locks.acquire("stock")) {
				order();
				handle.ensureHeld();
			}
			assertThat(isTaken("stock")).isTrue();
		});
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

	@Test
	void lockAroundATransactionIsReleasedAfterIt() {
		this.stock.reserve(() -> {
			this.transactions.required(this::order);
			assertThat(orders()).isEqualTo(1);
			assertThat(isTaken("stock")).isTrue();
		});
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

	@Test
	void requestsOfLocksStayOutOfTheTransaction() {
		this.transactions.required(() -> {
			order();
			this.stock.reserve(this::order);
			try (LockHandle handle = this.locks.acquire("by hand")) {
				handle.renew();
			}
			assertThat(this.locks.inspect("stock")).isPresent();
		});
		List<Sent> orders = this.commands.to(ORDERS)
			.stream()
			.filter((sent) -> sent.command().equals("insert"))
			.toList();
		assertThat(orders).hasSize(2).allMatch(Sent::inTransaction);
		assertThat(this.commands.to(Instance.COLLECTION)).extracting(Sent::command)
			.contains("findAndModify", "update", "find");
		assertThat(this.commands.to(Instance.COLLECTION)).noneMatch(Sent::inTransaction)
			.extracting(Sent::session)
			.doesNotContain(orders.get(0).session());
	}

	@Test
	void lockThatTheTransactionKeepsIsEnteredAgain() {
		this.transactions.required(() -> {
			this.stock.reserve(this::order);
			long asked = this.commands.count("findAndModify");
			long token = this.instances.document("stock").getLong("token");
			this.stock.reserve(this::order);
			this.locks.execute("stock", this::order);
			assertThat(this.commands.count("findAndModify")).isEqualTo(asked);
			assertThat(this.instances.document("stock")).containsEntry("token", token);
			assertThat(isTaken("stock")).isTrue();
		});
		assertThat(orders()).isEqualTo(3);
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

	@Test
	void lockOfAnInnerTransactionIsKeptUntilTheInnerCommit() {
		this.transactions.required(() -> {
			this.stock.reserve(this::order);
			this.transactions.requiresNew(() -> {
				this.locks.execute("inner", this::order);
				assertThat(isTaken("inner")).isTrue();
			});
			assertThat(orders()).as("those of the inner transaction").isEqualTo(1);
			assertThat(this.instances.isReleased("inner")).isTrue();
			assertThat(isTaken("stock")).isTrue();
		});
		assertThat(orders()).isEqualTo(2);
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

	@Test
	void lockOfTheOuterTransactionIsEnteredInTheInnerAndKeptUntilTheOuterCommit() {
		this.transactions.required(() -> {
			this.stock.reserve(this::order);
			this.transactions.requiresNew(() -> this.stock.reserve(this::order));
			assertThat(orders()).as("those of the inner transaction").isEqualTo(1);
			assertThat(isTaken("stock")).isTrue();
		});
		assertThat(orders()).isEqualTo(2);
		assertThat(this.instances.isReleased("stock")).isTrue();
	}

	@Test
	void transactionWhoseLockWasForciblyReleasedDoesNotCommit() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.transactions.required(() -> {
			this.stock.reserve(this::order);
			this.instances.expire("stock");
			assertThat(isTaken("stock")).as("by the server's clock").isFalse();
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> this.locks.execute("stock", () -> LockContext.current().orElseThrow().renew()));
		}));
		assertThat(orders()).isZero();
	}

}
