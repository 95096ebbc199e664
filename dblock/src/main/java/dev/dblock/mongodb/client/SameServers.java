package dev.dblock.mongodb.client;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

import com.mongodb.client.MongoClient;
import com.mongodb.connection.ClusterDescription;

import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Determines whether two factories connect to the same servers, as far as that is known
 * without a request.
 */
public final class SameServers {

	private SameServers() {
	}

	public static boolean areOf(MongoDatabaseFactory one, MongoDatabaseFactory other) {
		MongoClient client = (one != other) ? FactoryClient.of(one) : null;
		return one == other || client != null && areOf(client.getClusterDescription(), other);
	}

	/**
	 * Return whether a client is connected to the servers of a factory.
	 */
	public static boolean areOf(ClusterDescription seen, MongoDatabaseFactory factory) {
		MongoClient client = FactoryClient.of(factory);
		return client != null && !Collections.disjoint(servers(seen), servers(client.getClusterDescription()));
	}

	/**
	 * Return the known addresses, and the host name of the DNS SRV record by which they
	 * were discovered.
	 */
	private static Set<Object> servers(ClusterDescription cluster) {
		Set<Object> servers = new HashSet<>();
		cluster.getServerDescriptions().forEach((server) -> servers.add(server.getAddress()));
		String srvHost = cluster.getClusterSettings().getSrvHost();
		if (srvHost != null) {
			servers.add(srvHost);
		}
		else {
			servers.addAll(cluster.getClusterSettings().getHosts());
		}
		return servers;
	}

}
