package dev.dblock.scenario;

import java.util.ArrayList;
import java.util.List;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import dev.dblock.LockHandle;
import dev.dblock.LockTemplate;
import dev.dblock.mongodb.LockFence;
import dev.dblock.testing.MongoServer;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Old fences are removed in applications, too, in which Spring begins no transaction on
 * MongoDB.
 */
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class FenceIndexTests {

	private Instances instances;

	@BeforeEach
	void start(MongoServer server) {
		this.instances = new Instances(server);
	}

	@AfterEach
	void stop() throws Exception {
		this.instances.close();
	}

	private void assertOldFencesAreRemoved() {
		assertThat(this.instances.collection(Instance.FENCES).countDocuments()).as("fences").isPositive();
		List<Document> indexes = this.instances.collection(Instance.FENCES).listIndexes().into(new ArrayList<>());
		assertThat(indexes).anySatisfy((index) -> {
			assertThat(index).containsEntry("key", new Document("updatedAt", 1));
			assertThat(index.get("expireAfterSeconds", Number.class).intValue()).isEqualTo(86_400);
		});
	}

	@Test
	void oldFencesAreRemovedAfterTakeOvers() {
		Instance one = this.instances.start("one");
		Instance two = this.instances.start("two");
		for (int i = 0; i < 10; i++) {
			LockHandle crashed = one.locks().acquire("order-" + i);
			this.instances.expire("order-" + i);
			two.locks().acquire("order-" + i).release();
			crashed.release();
		}
		assertOldFencesAreRemoved();
	}

	@Test
	void oldFencesAreRemovedAfterSessionsOfTheApplicationsOwn() {
		ConfigurableApplicationContext application = this.instances.startApplication("application",
				NoTransactionManager.class);
		LockTemplate locks = application.getBean(LockTemplate.class);
		MongoClient client = application.getBean(MongoClient.class);
		LockFence fence = application.getBean(LockFence.class);
		this.instances.collection("orders").insertOne(new Document());
		String database = this.instances.documents().getNamespace().getDatabaseName();
		for (int i = 0; i < 10; i++) {
			try (LockHandle lock = locks.acquire("order-" + i); ClientSession session = client.startSession()) {
				session.startTransaction();
				client.getDatabase(database).getCollection("orders").insertOne(session, new Document());
				fence.fence(session, lock);
				session.commitTransaction();
			}
		}
		assertOldFencesAreRemoved();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class NoTransactionManager {

	}

}
