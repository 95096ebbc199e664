package dev.dblock.mongodb.client;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

import com.mongodb.client.MongoClient;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ServerDescription;

import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Which servers and which election the client sees. A listener can only be given to a
 * client that is being built, and most often ours is the application's; but its view can
 * be compared at each use, without a request. Of a client that cannot be reached through
 * its factory nothing is seen, and only failed requests tell.
 */
public final class Topology implements Supplier<Object> {

	private static final String UNSEEN = "unseen";

	private final MongoDatabaseFactory factory;

	public Topology(MongoDatabaseFactory factory) {
		this.factory = factory;
	}

	@Override
	public Object get() {
		MongoDatabaseFactory factory = (this.factory instanceof DedicatedDatabaseFactory dedicated) ? dedicated.open()
				: this.factory;
		MongoClient client = FactoryClient.of(factory);
		if (client != null) {
			ClusterDescription cluster = client.getClusterDescription();
			return cluster.getServerDescriptions().stream().map(Topology::state).toList();
		}
		return UNSEEN;
	}

	private static List<Object> state(ServerDescription server) {
		return Arrays.asList(server.getAddress(), server.getState(), server.getType(), server.getSetVersion(),
				server.getElectionId(), server.getTopologyVersion());
	}

}
