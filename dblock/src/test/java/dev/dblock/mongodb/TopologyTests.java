package dev.dblock.mongodb;

import java.time.Duration;

import com.mongodb.client.MongoClient;
import dev.dblock.testing.MongoReplicaSet;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.mockito.Mockito;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

import static org.assertj.core.api.Assertions.assertThat;

@MongoServerTest(kind = MongoServerKind.REPLICA_SET_3)
class TopologyTests {

	@Test
	void anElectionChangesWhatTheClientSees(MongoReplicaSet server) {
		MongoClient client = server.client();
		Topology topology = new Topology(
				new LockDatabase(new SimpleMongoClientDatabaseFactory(client, server.freshDatabase())));
		client.getDatabase("admin").listCollectionNames().first();
		Object before = topology.get();
		server.stepDown(60);
		server.awaitPrimary();
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.untilAsserted(() -> assertThat(topology.get()).isNotEqualTo(before));
	}

	@Test
	void aClientThatCannotBeReachedThroughItsFactoryIsAlwaysTheSame() {
		Topology topology = new Topology(new LockDatabase(Mockito.mock(MongoDatabaseFactory.class, (call) -> {
			throw new UnsupportedOperationException();
		})));
		assertThat(topology.get()).isEqualTo(topology.get());
	}

}
