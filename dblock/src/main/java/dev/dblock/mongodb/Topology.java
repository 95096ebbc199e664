package dev.dblock.mongodb;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;

import com.mongodb.client.MongoClient;
import com.mongodb.connection.ServerDescription;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * The client's view of the servers and of the current election. A listener could be
 * registered only with a client that is being built, and the client is usually the
 * application's own. Its view, however, can be compared at each use without a request. If
 * the client is not accessible through its factory, changes are noticed only by failed
 * requests.
 */
final class Topology implements Supplier<Object> {

	private static final String UNSEEN = "unseen";

	private final MongoDatabaseFactory factory;

	private volatile @Nullable MongoClient client;

	Topology(MongoDatabaseFactory factory) {
		this.factory = factory;
	}

	@Override
	public Object get() {
		MongoClient known = this.client;
		if (known == null) {
			known = SameServers.client(this.factory);
			this.client = known;
		}
		return (known != null)
				? known.getClusterDescription().getServerDescriptions().stream().map(Topology::state).toList() : UNSEEN;
	}

	private static List<Object> state(ServerDescription server) {
		return Arrays.asList(server.getAddress(), server.getState(), server.getType(), server.getSetVersion(),
				server.getElectionId(), server.getTopologyVersion());
	}

}
