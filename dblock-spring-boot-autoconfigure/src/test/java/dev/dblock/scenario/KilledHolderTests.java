package dev.dblock.scenario;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import dev.dblock.LockHandle;
import dev.dblock.LockOptions;
import dev.dblock.LockTemplate;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.bson.Document;
import org.junit.jupiter.api.Test;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.data.mongodb.core.MongoTemplate;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A holder whose process is killed, so that its lock is not released.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class KilledHolderTests {

	@Test
	void lockIsTakenOverAtTheEndOfItsLeaseAndNotBefore(MongoServer server) throws Exception {
		try (Instances instances = new Instances(server)) {
			Instance other = instances.start("other");
			try (RenewedHolder holder = RenewedHolder.start(instances, "killed")) {
				long token = holder.awaitRenewed(instances);
				Work<LockHandle> waiter = RenewedHolder.awaitBy(other);
				holder.process().kill();
				Document left = instances.document("stock");
				assertThat(left).containsEntry("acquirer", "killed");
				LockHandle next = waiter.result();
				assertThat(next.token()).isGreaterThan(token);
				other.assertWokenAtTheEndOfALease();
				assertThat(instances.document("stock").getDate("acquiredAt"))
					.isAfterOrEqualTo(left.getDate("expiresAt"));
				assertThat(instances.document("stock")).containsEntry("fencePending", true);
				assertThat(next.release()).isTrue();
			}
		}
	}

	/**
	 * Its write to the fence may still be committed until the server aborts its
	 * transaction.
	 */
	@Test
	void takeOverWaitsForTheTransactionOfAHolderThatDiedBetweenItsFenceAndItsCommit(MongoServer server)
			throws Exception {
		int usual = transactionLifetimeSeconds(server, 20);
		try (Instances instances = new Instances(server)) {
			Instance other = instances.start("other");
			try (AnotherProcess holder = AnotherProcess.start(Committer.class, instances.uri())) {
				long token = Long.parseLong(holder.await("token"));
				assertThat(openTransactions(server)).isEqualTo(1);
				holder.kill();
				Document left = instances.document("stock");
				assertThat(left).containsEntry("acquirer", "committer");
				Work<LockHandle> waiter = Work.start(
						() -> other.locks().acquire("stock", LockOptions.defaults().waitUpTo(Duration.ofMinutes(2))));
				Instances.eventually().until(() -> {
					boolean granted = waiter.isDone();
					assertThat(granted && openTransactions(server) > 0).as("granted beside an open transaction")
						.isFalse();
					return granted;
				});
				LockHandle next = waiter.result();
				assertThat(next.token()).isGreaterThan(token);
				assertThat(other.commands().fences()).as("asked again until the fence could be raised")
					.hasSizeGreaterThan(1);
				assertThat(instances.collection("orders").countDocuments()).isZero();
				assertThat(next.release()).isTrue();
			}
		}
		finally {
			transactionLifetimeSeconds(server, usual);
		}
	}

	private static int transactionLifetimeSeconds(MongoServer server, int seconds) {
		return server.client()
			.getDatabase("admin")
			.runCommand(new Document("setParameter", 1).append("transactionLifetimeLimitSeconds", seconds))
			.get("was", Number.class)
			.intValue();
	}

	private static long openTransactions(MongoServer server) {
		return server.client()
			.getDatabase("admin")
			.runCommand(new Document("serverStatus", 1))
			.get("transactions", Document.class)
			.get("currentOpen", Number.class)
			.longValue();
	}

	static final class Committer {

		private Committer() {
		}

		public static void main(String[] arguments) {
			ConfigurableApplicationContext application = new SpringApplicationBuilder(
					FencedApplication.TransactionConfiguration.class)
				.web(WebApplicationType.NONE)
				.run("--spring.mongodb.uri=" + arguments[0], "--dblock.acquirer=committer");
			MongoTemplate mongo = application.getBean(MongoTemplate.class);
			mongo.createCollection("orders");
			LockHandle handle = application.getBean(LockTemplate.class)
				.acquire("stock", LockOptions.lease(RenewedHolder.LEASE));
			MongoTransactionManager manager = application.getBean(MongoTransactionManager.class);
			// After the one that writes the fence
			manager.addListener(new TransactionExecutionListener() {

				@Override
				public void beforeCommit(TransactionExecution transaction) {
					System.out.println("token " + handle.token());
					new CompletableFuture<>().join();
				}

			});
			new TransactionTemplate(manager).executeWithoutResult((status) -> mongo.insert(new Document(), "orders"));
		}

	}

}
