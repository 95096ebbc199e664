package dev.dblock.mongodb;

import java.util.Collections;
import java.util.HashSet;
import java.util.Set;

import com.mongodb.ClientSessionOptions;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.connection.ClusterDescription;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Determines whether two factories or clients connect to the same servers, as far as that
 * is known without a request.
 */
final class SameServers {

	private SameServers() {
	}

	/**
	 * Return the client of a factory. Spring Data has no method for it that all of its
	 * supported versions share, but a session names the client that started it. Starting
	 * one sends no request.
	 * @return the client; {@code null} if it is unknown
	 */
	static @Nullable MongoClient client(MongoDatabaseFactory factory) {
		try (ClientSession session = factory.getSession(ClientSessionOptions.builder().build())) {
			return (session.getOriginator() instanceof MongoClient client) ? client : null;
		}
		catch (RuntimeException ex) {
			// The client is closed, or the factory has no sessions, or none for this
			// thread
			return null;
		}
	}

	static boolean areOf(MongoDatabaseFactory factory, LockDatabase locks) {
		MongoClient client = locks.isOf(factory) ? null : client(factory);
		return locks.isOf(factory) || client != null && areOf(client.getClusterDescription(), locks.client());
	}

	/**
	 * Return whether two clients are connected to the same servers.
	 */
	static boolean areOf(ClusterDescription seen, @Nullable MongoClient client) {
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
