package dev.dblock.testing;

import java.util.List;
import java.util.concurrent.TimeUnit;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import org.bson.Document;

/**
 * The server that the environment names. It is asked for its kind, since it serves only
 * the tests that need such a server.
 */
final class ExternalDeployment extends Deployment {

	private final String uri;

	private final Document hello;

	private ExternalDeployment(String uri, MongoServerKind kind, Document hello) {
		super(kind);
		this.uri = uri;
		this.hello = hello;
	}

	static ExternalDeployment connect(String uri) {
		MongoClientSettings settings = MongoClientSettings.builder()
			.applyConnectionString(new ConnectionString(uri))
			.applyToClusterSettings((cluster) -> cluster.serverSelectionTimeout(10, TimeUnit.SECONDS))
			.build();
		try (MongoClient client = MongoClients.create(settings)) {
			Document hello = client.getDatabase("admin").runCommand(new Document("hello", 1));
			return new ExternalDeployment(uri, kind(hello), hello);
		}
		catch (MongoException ex) {
			throw new IllegalStateException(
					ServerSources.URI_VARIABLE + " names a server that cannot be used; start it, or unset the variable",
					ex);
		}
	}

	static MongoServerKind kind(Document hello) {
		if ("isdbgrid".equals(hello.getString("msg"))) {
			return MongoServerKind.ANY;
		}
		if (hello.getString("setName") == null) {
			return MongoServerKind.STANDALONE;
		}
		List<String> hosts = hello.getList("hosts", String.class, List.of());
		return (hosts.size() >= 3) ? MongoServerKind.REPLICA_SET_3 : MongoServerKind.REPLICA_SET_1;
	}

	/**
	 * Returns whether this server serves a test that asks for the given kind: a larger
	 * replica set replaces a smaller one.
	 */
	boolean serves(MongoServerKind wanted) {
		return wanted == MongoServerKind.ANY || wanted == kind()
				|| (wanted == MongoServerKind.REPLICA_SET_1 && kind().isReplicaSet());
	}

	@Override
	String uri() {
		return this.uri;
	}

	@Override
	boolean supportsTransactions() {
		return kind() != MongoServerKind.STANDALONE;
	}

	@Override
	void stop() {
	}

	@Override
	public String toString() {
		return "the server named by " + ServerSources.URI_VARIABLE + " (" + kind() + ", wire version "
				+ this.hello.get("maxWireVersion") + ")";
	}

}
