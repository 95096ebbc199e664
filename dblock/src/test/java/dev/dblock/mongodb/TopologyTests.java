package dev.dblock.mongodb;

import java.time.Duration;
import java.util.List;

import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterType;
import dev.dblock.testing.MongoReplicaSet;
import dev.dblock.testing.MongoServerKind;
import dev.dblock.testing.MongoServerTest;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mockito.ArgumentMatchers;
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
		assertThat(topology.isSharded()).isFalse();
		Object before = topology.get();
		server.stepDown(60);
		server.awaitPrimary();
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.untilAsserted(() -> assertThat(topology.get()).isNotEqualTo(before));
	}

	@ParameterizedTest
	@EnumSource(names = { "SHARDED", "LOAD_BALANCED" })
	void aClientOfRoutersSeesAShardedCluster(ClusterType type) {
		MongoClient client = Mockito.mock(MongoClient.class);
		ClientSession session = Mockito.mock(ClientSession.class);
		Mockito.when(session.getOriginator()).thenReturn(client);
		Mockito.when(client.startSession(ArgumentMatchers.any())).thenReturn(session);
		Mockito.when(client.getClusterDescription())
			.thenReturn(new ClusterDescription(ClusterConnectionMode.MULTIPLE, type, List.of()));
		LockDatabase database = new LockDatabase(new SimpleMongoClientDatabaseFactory(client, "test"));
		assertThat(new Topology(database).isSharded()).isTrue();
	}

	@Test
	void aClientThatCannotBeReachedThroughItsFactoryIsAlwaysTheSame() {
		Topology topology = new Topology(new LockDatabase(Mockito.mock(MongoDatabaseFactory.class, (call) -> {
			throw new UnsupportedOperationException();
		})));
		assertThat(topology.get()).isEqualTo(topology.get());
		assertThat(topology.isSharded()).isFalse();
	}

}
