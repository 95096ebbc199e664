package dev.dblock.mongodb;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import com.mongodb.client.MongoChangeStreamCursor;
import com.mongodb.client.model.changestream.ChangeStreamDocument;
import dev.dblock.mongodb.MongoLockSettings.StatementDialect;
import dev.dblock.simulation.server.SimulatedDriver;
import dev.dblock.store.LeaseKey;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import dev.dblock.testing.SameOnEachJdk;
import org.awaitility.Awaitility;
import org.bson.BsonDocument;
import org.bson.BsonInt64;
import org.bson.BsonValue;
import org.bson.Document;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.mongodb.MongoDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The contract of the repository on a real server, with which the simulated server is
 * compared after each command.
 */
@SameOnEachJdk
@MongoServerTest(kind = MongoServerKind.REPLICA_SET_1)
class PipelineOnSimulatedServerTests extends MongoJobContract {

	private ComparedServers servers;

	@Override
	StatementDialect dialect() {
		return StatementDialect.AUTO;
	}

	@Override
	MongoDatabaseFactory factory() {
		removeExpired(false);
		this.servers = new ComparedServers(this.client.getDatabase(this.database));
		return new SimulatedDriver(this.servers, this.database).factory();
	}

	@AfterEach
	void removeExpiredAgain() {
		removeExpired(true);
	}

	/**
	 * The simulated server has no TTL monitor, which would remove the document of a
	 * dialect check between a command and its comparison.
	 */
	private void removeExpired(boolean enabled) {
		this.client.getDatabase("admin")
			.runCommand(new Document("setParameter", 1).append("ttlMonitorEnabled", enabled));
	}

	@Test
	void theCommandsOfTheFirstLockAreCompared() {
		acquired("stock");
		assertThat(this.servers.compared()).contains("buildInfo", "createIndexes", "findAndModify", "hello",
				"listCollections", "listIndexes");
		assertThat(this.servers.compared().contains("delete")).isEqualTo(dialect() == StatementDialect.AUTO);
	}

	@Test
	void theSameReleasesAreReported() {
		release(acquired("first"), Duration.ZERO);
		List<BsonValue> simulated = new ArrayList<>();
		List<BsonValue> real = new ArrayList<>();
		BsonInt64 opened = this.servers.openSimulatedStream(ReleaseEvents.PIPELINE);
		try (MongoChangeStreamCursor<ChangeStreamDocument<BsonDocument>> cursor = this.documents
			.watch(ReleaseEvents.PIPELINE, BsonDocument.class)
			.cursor()) {
			LeaseKey key = acquired("stock");
			this.locks.renew(List.of(key), TIMEOUT);
			release(key, Duration.ZERO);
			release(acquired("held"), LEASE);
			acquired("forced");
			this.locks.forceRelease("forced");
			this.locks.forceReleaseNow("forced");
			release(acquired("stock"), Duration.ZERO);
			this.servers.simulatedEvents(opened)
				.forEach((event) -> simulated.add(event.asDocument().get("documentKey")));
			Awaitility.await().atMost(Duration.ofMinutes(1)).untilAsserted(() -> {
				ChangeStreamDocument<BsonDocument> event = cursor.tryNext();
				if (event != null) {
					real.add(event.getDocumentKey());
				}
				assertThat(simulated).isNotEmpty().isEqualTo(real);
			});
		}
	}

}
