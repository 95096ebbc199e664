package dev.dblock.testing;

import java.time.Duration;
import java.util.Date;
import java.util.concurrent.TimeUnit;

import com.mongodb.MongoCommandException;
import com.mongodb.MongoSocketException;
import com.mongodb.WriteConcern;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoCollection;
import com.mongodb.client.model.Filters;
import com.mongodb.client.model.IndexOptions;
import com.mongodb.client.model.Updates;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for {@link MongoServerExtension}.
 */
@SameOnEachJdk
class MongoServerExtensionTests {

	@Test
	@MongoServerTest(kind = MongoServerKind.EMBEDDED)
	void embeddedServerStoresDocuments(MongoServer server) {
		assertThat(server.kind()).isEqualTo(MongoServerKind.EMBEDDED);
		assertThat(server.isReal()).isFalse();
		assertThat(server.supportsTransactions()).isFalse();
		assertThatDocumentsAreStored(server);
		assertThatIllegalStateException().isThrownBy(() -> server.commandCount("find"))
			.withMessageContaining("faults = true");
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.STANDALONE)
	void standaloneServerStoresDocuments(MongoServer server) {
		assertThat(server.kind()).isEqualTo(MongoServerKind.STANDALONE);
		assertThat(server.isReal()).isTrue();
		assertThat(hello(server)).doesNotContainKey("setName");
		assertThat(server.supportsTransactions()).isFalse();
		assertThatDocumentsAreStored(server);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
	void replicaSetOfOneHasTransactions(MongoServer server) {
		assertThat(hello(server)).containsKey("setName");
		assertThat(server.supportsTransactions()).isTrue();
		MongoCollection<Document> collection = collection(server);
		try (ClientSession session = server.client().startSession()) {
			session.startTransaction();
			collection.insertOne(session, new Document("_id", 1));
			session.abortTransaction();
		}
		assertThat(collection.countDocuments()).isZero();
	}

	@Test
	@MongoServerTest
	void anyServerIsServed(MongoServer server) {
		assertThatDocumentsAreStored(server);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.STANDALONE, fresh = true)
	void freshServerIsNotTheSharedOne(MongoServer server) {
		assertThat(server.client().listDatabaseNames()).doesNotContain("left-by-another-test");
		server.client().getDatabase("left-by-another-test").createCollection("any");
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.STANDALONE, fresh = true)
	void everyFreshServerIsNew(MongoServer server) {
		freshServerIsNotTheSharedOne(server);
	}

	@Test
	@MongoServerTest(kind = MongoServerKind.STANDALONE, faults = true)
	void ttlIndexRemovesWithinSeconds(MongoServer server) {
		MongoCollection<Document> collection = collection(server);
		collection.createIndex(new Document("at", 1), new IndexOptions().expireAfter(0L, TimeUnit.SECONDS));
		collection.insertOne(new Document("at", new Date(0)));
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> collection.countDocuments() == 0);
	}

	private static void assertThatDocumentsAreStored(MongoServer server) {
		MongoCollection<Document> collection = collection(server);
		collection.insertOne(new Document("_id", 1));
		try (MongoClient client = MongoClients.create(server.uri("unused"))) {
			assertThat(client.getDatabase(collection.getNamespace().getDatabaseName())
				.getCollection(collection.getNamespace().getCollectionName())
				.find()).containsExactly(new Document("_id", 1));
		}
	}

	private static MongoCollection<Document> collection(MongoServer server) {
		return server.client().getDatabase(server.freshDatabase()).getCollection("documents");
	}

	private static Document hello(MongoServer server) {
		return server.client().getDatabase("admin").runCommand(new Document("hello", 1));
	}

	@Nested
	@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
	class ReplicaSetOfThree {

		@BeforeEach
		void mendedByTheTestBefore(MongoReplicaSet replicaSet) {
			assertThat(replicaSet.nodes()).allMatch(MongoNode::isRunning);
			assertThat(replicaSet.nodes()).filteredOn(MongoNode::isPrimary).hasSize(1);
			assertThat(replicaSet.nodes()).filteredOn(MongoNode::isSecondary).hasSize(2);
			assertThat(replicaSet.nodes()).allMatch(MongoNode::canRollBack);
		}

		@Test
		void keepsWhatWasWrittenWhenItsPrimaryIsKilled(MongoReplicaSet replicaSet) {
			// The default of MongoDB 4.4 is a write that only the primary has.
			MongoCollection<Document> collection = collection(replicaSet).withWriteConcern(WriteConcern.MAJORITY);
			collection.insertOne(new Document("_id", 1));
			MongoNode killed = replicaSet.killPrimary();
			assertThat(killed.isRunning()).isFalse();
			assertThat(replicaSet.awaitPrimary()).isNotSameAs(killed);
			assertThat(collection.find()).hasSize(1);
			killed.restart();
			replicaSet.awaitAllSecondaries();
			assertThat(killed.isSecondary()).isTrue();
		}

		@Test
		void electsAnotherPrimaryWhileTheOldOneIsPaused(MongoReplicaSet replicaSet) {
			MongoNode paused = replicaSet.primary();
			paused.pause();
			assertThat(replicaSet.awaitPrimary()).isNotSameAs(paused);
			paused.resume();
			replicaSet.awaitAllSecondaries();
		}

		@Test
		void electsAnotherPrimaryAfterAStepDown(MongoReplicaSet replicaSet) {
			MongoNode former = replicaSet.stepDown(60);
			assertThat(replicaSet.awaitPrimary()).isNotSameAs(former);
		}

		@Test
		void leavesAMemberDownForTheExtensionToRestart(MongoReplicaSet replicaSet) {
			replicaSet.nodes().get(0).kill();
			replicaSet.nodes().get(1).pause();
			assertThat(replicaSet.nodes()).filteredOn(MongoNode::isRunning).hasSize(1);
		}

		@Test
		void failsTheGivenCommands(MongoReplicaSet replicaSet) {
			MongoCollection<Document> collection = collection(replicaSet);
			replicaSet.failCommand(FailCommand.on("update").times(1).errorCode(8000));
			assertThatExceptionOfType(MongoCommandException.class).isThrownBy(() -> update(collection))
				.extracting(MongoCommandException::getErrorCode)
				.isEqualTo(8000);
			update(collection);
			replicaSet.failCommandOnAllNodes(FailCommand.on("update").closeConnection());
			assertThatExceptionOfType(MongoSocketException.class).isThrownBy(() -> update(collection));
			replicaSet.clearFailPoints();
			update(collection);
		}

		@Test
		void delaysOnlyTheGivenApplication(MongoReplicaSet replicaSet) {
			MongoCollection<Document> collection = collection(replicaSet);
			replicaSet.failCommand(FailCommand.on("update").forApplication("slow").blockFor(Duration.ofMillis(400)));
			update(collection);
			String uri = replicaSet.uri() + "&appName=slow";
			try (MongoClient slow = MongoClients.create(uri)) {
				long start = System.nanoTime();
				update(slow.getDatabase(collection.getNamespace().getDatabaseName()).getCollection("documents"));
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(400));
			}
		}

		@Test
		void countsCommands(MongoReplicaSet replicaSet) {
			MongoCollection<Document> collection = collection(replicaSet);
			long before = replicaSet.commandCount("update", "findAndModify");
			update(collection);
			collection.findOneAndUpdate(Filters.eq(1), Updates.set("a", 2));
			assertThat(replicaSet.commandCount("update", "findAndModify")).isEqualTo(before + 2);
		}

		private static void update(MongoCollection<Document> collection) {
			collection.updateMany(Filters.eq(1), Updates.inc("count", 1));
		}

	}

	@Nested
	@MongoServerTest(kind = MongoServerKind.EMBEDDED)
	@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
	class Databases {

		private static String filled;

		@Test
		@Order(1)
		void areFilled(MongoServer server) {
			MongoCollection<Document> collection = collection(server);
			collection.insertOne(new Document("_id", 1));
			filled = collection.getNamespace().getDatabaseName();
			assertThat(server.client().listDatabaseNames()).contains(filled);
		}

		@Test
		@Order(2)
		void areDroppedAfterTheTest(MongoServer server) {
			assertThat(filled).isNotNull();
			assertThat(server.client().listDatabaseNames()).doesNotContain(filled);
		}

	}

}
