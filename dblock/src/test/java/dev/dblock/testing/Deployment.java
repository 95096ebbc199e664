package dev.dblock.testing;

import java.util.List;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import org.jspecify.annotations.Nullable;

/**
 * A server, or several that belong together, wherever they came from.
 */
abstract class Deployment implements AutoCloseable {

	private final MongoServerKind kind;

	private @Nullable MongoClient client;

	Deployment(MongoServerKind kind) {
		this.kind = kind;
	}

	/**
	 * Returns the actual kind of the deployment; {@code ANY} for a sharded cluster.
	 */
	final MongoServerKind kind() {
		return this.kind;
	}

	abstract String uri();

	boolean supportsTransactions() {
		return this.kind.isReplicaSet();
	}

	/**
	 * Returns the processes that the tests may disturb; empty if there are none.
	 */
	List<MongoNode> nodes() {
		return List.of();
	}

	/**
	 * Undoes what a test did to the server.
	 */
	void mend() {
	}

	final synchronized MongoClient client() {
		if (this.client == null) {
			this.client = MongoClients.create(uri());
		}
		return this.client;
	}

	@Override
	public final synchronized void close() {
		if (this.client != null) {
			this.client.close();
			this.client = null;
		}
		stop();
	}

	abstract void stop();

}
