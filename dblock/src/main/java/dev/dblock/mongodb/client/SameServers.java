package dev.dblock.mongodb.client;

import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ClusterSettings;
import com.mongodb.connection.ServerDescription;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.MongoDatabaseFactory;

/**
 * Determines whether two factories connect to the same servers, as far as that is known
 * without a request.
 */
public final class SameServers {

	private SameServers() {
	}

	public static boolean areOf(MongoDatabaseFactory one, MongoDatabaseFactory other) {
		if (one == other) {
			return true;
		}
		Servers first = Servers.of(one);
		Servers second = Servers.of(other);
		return first != null && second != null && first.areThose(second);
	}

	/**
	 * Return whether a client is connected to the servers of a factory.
	 */
	public static boolean areOf(ClusterDescription seen, MongoDatabaseFactory factory) {
		Servers servers = Servers.of(factory);
		return servers != null && Servers.of(seen).areThose(servers);
	}

	/**
	 * The servers of a factory, as far as it exposes them.
	 *
	 * @param srvHost the host name of their DNS SRV record, if they were discovered by it
	 * @param addresses the known addresses
	 */
	private record Servers(@Nullable String srvHost, Set<ServerAddress> addresses) {

		// Uses the settings of a dedicated factory, so that its client is not created
		static @Nullable Servers of(MongoDatabaseFactory factory) {
			if (factory instanceof DedicatedDatabaseFactory dedicated) {
				return of(dedicated.settings().getClusterSettings(), List.of());
			}
			MongoClient client = FactoryClient.of(factory);
			return (client != null) ? of(client.getClusterDescription()) : null;
		}

		static Servers of(ClusterDescription cluster) {
			return of(cluster.getClusterSettings(), cluster.getServerDescriptions());
		}

		private static Servers of(ClusterSettings settings, List<ServerDescription> found) {
			Set<ServerAddress> addresses = new HashSet<>();
			if (settings.getSrvHost() == null) {
				addresses.addAll(settings.getHosts());
			}
			found.stream().map(ServerDescription::getAddress).forEach(addresses::add);
			return new Servers(settings.getSrvHost(), addresses);
		}

		boolean areThose(Servers others) {
			return this.srvHost != null && this.srvHost.equals(others.srvHost)
					|| !Collections.disjoint(this.addresses, others.addresses);
		}

	}

}
