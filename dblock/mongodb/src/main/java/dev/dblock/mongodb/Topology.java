package dev.dblock.mongodb;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

import com.mongodb.client.MongoClient;
import com.mongodb.connection.ClusterType;
import com.mongodb.connection.ServerDescription;

/**
 * The client's view of the servers and of the current election. A listener could be
 * registered only with a client that is being built, and the client is usually the
 * application's own. Its view, however, can be compared at each use without a request. If
 * the client is not accessible through its factory, changes are noticed only by failed
 * requests.
 */
final class Topology implements Supplier<Object> {

	private static final String UNSEEN = "unseen";

	/** Only routers can be behind a load balancer. */
	private static final Set<ClusterType> ROUTED = EnumSet.of(ClusterType.SHARDED, ClusterType.LOAD_BALANCED);

	private final LockDatabase database;

	Topology(LockDatabase database) {
		this.database = database;
	}

	@Override
	public Object get() {
		MongoClient client = this.database.client();
		return (client != null)
				? client.getClusterDescription().getServerDescriptions().stream().map(Topology::state).toList()
				: UNSEEN;
	}

	/**
	 * Whether the servers are known to be the routers of a sharded cluster.
	 */
	boolean isSharded() {
		MongoClient client = this.database.client();
		return client != null && ROUTED.contains(client.getClusterDescription().getType());
	}

	private static List<Object> state(ServerDescription server) {
		return Arrays.asList(server.getAddress(), server.getState(), server.getType(), server.getSetVersion(),
				server.getElectionId(), server.getTopologyVersion());
	}

}
