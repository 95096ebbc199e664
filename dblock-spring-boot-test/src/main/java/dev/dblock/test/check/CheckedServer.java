package dev.dblock.test.check;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoSecurityException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.ServerAddress;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.connection.ClusterConnectionMode;
import com.mongodb.connection.ClusterDescription;
import com.mongodb.connection.ServerDescription;
import com.mongodb.event.CommandListener;
import com.mongodb.event.CommandStartedEvent;
import org.bson.BsonArray;
import org.bson.BsonDocument;
import org.bson.BsonInt32;
import org.bson.BsonValue;
import org.jspecify.annotations.Nullable;

import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

/**
 * The server that is checked, and a client of it.
 */
final class CheckedServer implements AutoCloseable {

	private static final String DEFAULT_DATABASE = "test";

	private static final int SELECTION_SECONDS = 10;

	private static final BsonInt32 ONE = new BsonInt32(1);

	static final int UNAUTHORIZED = 13;

	private final ConnectionString connection;

	private final MongoClient client;

	private final Requests requests;

	private CheckedServer(ConnectionString connection, MongoClient client, Requests requests) {
		this.connection = connection;
		this.client = client;
		this.requests = requests;
	}

	/**
	 * Connect to a server, and send it a request.
	 * @param uri the connection string
	 * @return the server
	 * @throws IllegalArgumentException if that is no connection string
	 * @throws IllegalStateException if the server does not answer, or refuses the user
	 */
	static CheckedServer connect(String uri) {
		return connect(uri, SELECTION_SECONDS);
	}

	static CheckedServer connect(String uri, int seconds) {
		CheckedServer server = open(parsed(uri), null, seconds);
		try {
			server.database().runCommand(new BsonDocument("ping", ONE));
			return server;
		}
		catch (MongoException ex) {
			server.close();
			throw new IllegalStateException(server.withoutNames(explained(ex, seconds)), ex);
		}
	}

	static CheckedServer unconnected(String uri) {
		return open(parsed(uri), null, SELECTION_SECONDS);
	}

	private static ConnectionString parsed(String uri) {
		try {
			return new ConnectionString(uri);
		}
		catch (RuntimeException ex) {
			throw new IllegalArgumentException("This is no connection string that the driver can use: "
					+ String.valueOf(ex.getMessage()).replace(uri, "…")
					+ " Pass one like mongodb://user:password@host:27017/database, with reserved characters of the"
					+ " password percent-encoded", ex);
		}
	}

	/**
	 * Connect to the same server at another address.
	 */
	CheckedServer at(ServerAddress address) {
		return open(this.connection, address, SELECTION_SECONDS);
	}

	private static CheckedServer open(ConnectionString connection, @Nullable ServerAddress address, int seconds) {
		Requests requests = new Requests();
		MongoClientSettings.Builder settings = MongoClientSettings.builder()
			.applyConnectionString(connection)
			.applicationName("dblock-check")
			.applyToClusterSettings((cluster) -> cluster.serverSelectionTimeout(seconds, TimeUnit.SECONDS))
			.addCommandListener(requests);
		if (address != null) {
			settings.compressorList(List.of())
				.applyToClusterSettings(
						(cluster) -> cluster.hosts(List.of(address)).mode(ClusterConnectionMode.SINGLE));
		}
		return new CheckedServer(connection, MongoClients.create(settings.build()), requests);
	}

	private static String explained(MongoException failure, int seconds) {
		String message = String.valueOf(failure.getMessage());
		boolean refused = failure instanceof MongoSecurityException || message.contains("MongoSecurityException");
		if (refused) {
			return "The server does not accept the user: check user, password and authSource of the connection string";
		}
		if (failure instanceof MongoTimeoutException) {
			return "No server that accepts writes answered within " + seconds
					+ " s: check the address, TLS, the firewall and the name of the replica set";
		}
		if (failure instanceof MongoCommandException refusal && refusal.getErrorCode() == UNAUTHORIZED) {
			return "The user may not use the database: name the user's database in the connection string, and give the"
					+ " user the role of docs/security.md";
		}
		return "The server does not answer a ping: " + message;
	}

	/**
	 * Return the reason why no proxy can be put in front of the server; empty if one can.
	 */
	String whyNoProxy() {
		if (this.connection.isSrvProtocol()) {
			return "the connection string begins with mongodb+srv";
		}
		if (Boolean.TRUE.equals(this.connection.getSslEnabled())) {
			return "the connection uses TLS";
		}
		return Boolean.TRUE.equals(this.connection.isLoadBalanced()) ? "the connection string has loadBalanced" : "";
	}

	/**
	 * Return the address of the server that accepts writes.
	 */
	ServerAddress writable() {
		return servers().filter(ServerDescription::isPrimary)
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("no server accepts writes"))
			.getAddress();
	}

	private Stream<ServerDescription> servers() {
		return cluster().getServerDescriptions().stream();
	}

	private ClusterDescription cluster() {
		return this.client.getClusterDescription();
	}

	MongoClient client() {
		return this.client;
	}

	Requests requests() {
		return this.requests;
	}

	String databaseName() {
		String name = this.connection.getDatabase();
		return (name != null) ? name : DEFAULT_DATABASE;
	}

	MongoDatabase database() {
		return this.client.getDatabase(databaseName());
	}

	/**
	 * Return a factory whose databases are changed on their way.
	 */
	MongoDatabaseFactory factory(UnaryOperator<MongoDatabase> change) {
		return new SimpleMongoClientDatabaseFactory(this.client, databaseName()) {

			@Override
			protected MongoDatabase doGetMongoDatabase(String name) {
				return change.apply(super.doGetMongoDatabase(name));
			}

		};
	}

	/**
	 * Hide the name and version of the server. dblock refuses some servers by name; the
	 * check sends them the same requests, and shows what they do.
	 */
	static MongoDatabase unnamed(MongoDatabase database) {
		return (MongoDatabase) Proxy.newProxyInstance(MongoDatabase.class.getClassLoader(),
				new Class<?>[] { MongoDatabase.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("runCommand") && Arrays.stream(arguments)
						.anyMatch((argument) -> argument instanceof BsonDocument command
								&& command.containsKey("buildInfo"))) {
						return new BsonDocument();
					}
					try {
						Object result = method.invoke(database, arguments);
						return (result instanceof MongoDatabase other) ? unnamed(other) : result;
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	/**
	 * Describe product, version and topology.
	 */
	String describe() {
		long members = servers().count();
		String topology = switch (cluster().getType()) {
			case REPLICA_SET -> "replica set of " + members + ((members == 1) ? " member" : " members");
			case SHARDED -> "sharded cluster";
			case STANDALONE -> "standalone";
			default -> cluster().getType().toString();
		};
		try {
			BsonDocument info = this.database().runCommand(new BsonDocument("buildInfo", ONE), BsonDocument.class);
			StringBuilder description = new StringBuilder("version ");
			description.append(text(info.get("version", ONE)));
			info.forEach((key, value) -> {
				boolean product = key.endsWith("Version") && !key.equals("gitVersion") || key.equals("process");
				if (product || key.equals("modules") && value.isArray() && !value.asArray().isEmpty()) {
					description.append(", ").append(key).append(' ').append(text(value));
				}
			});
			return description.append(", ").append(topology).toString();
		}
		catch (MongoException ex) {
			return "unknown version, " + topology;
		}
	}

	private static String text(BsonValue value) {
		if (value.isString()) {
			return value.asString().getValue();
		}
		return value.isArray() ? String.join("+", ((BsonArray) value).stream().map(CheckedServer::text).toList())
				: "unknown";
	}

	/**
	 * Remove host names, user and password from a text.
	 */
	String withoutNames(String text) {
		Set<String> names = new TreeSet<>((one, other) -> {
			int longer = Integer.compare(other.length(), one.length());
			return (longer != 0) ? longer : one.compareTo(other);
		});
		this.connection.getHosts().forEach((host) -> names.add(new ServerAddress(host).getHost()));
		servers().forEach((server) -> names.add(server.getAddress().getHost()));
		names.add(String.valueOf(this.connection.getUsername()));
		char[] password = this.connection.getPassword();
		names.add((password != null) ? new String(password) : "null");
		String result = text.replaceAll("[\\w.-]+/?[\\d.]*:\\d{2,5}\\b", "…");
		for (String name : names) {
			result = (name.length() > 2 && !name.equals("null")) ? result.replace(name, "…") : result;
		}
		return result;
	}

	/**
	 * Return the reason of a failure, without the full answer of the server.
	 */
	static String reason(RuntimeException failure) {
		return (failure instanceof MongoCommandException refusal)
				? refusal.getErrorMessage() + " (" + refusal.getErrorCode() + ")"
				: String.valueOf(failure.getMessage());
	}

	@Override
	public void close() {
		this.client.close();
	}

	/**
	 * Counts the requests of a client, and knows whether the last update had a pipeline.
	 */
	static final class Requests implements CommandListener {

		private final AtomicInteger count = new AtomicInteger();

		private volatile boolean pipeline;

		@Override
		public void commandStarted(CommandStartedEvent event) {
			this.count.incrementAndGet();
			BsonDocument command = event.getCommand();
			if (event.getCommandName().equals("findAndModify")) {
				this.pipeline = command.isArray("update");
			}
			else if (event.getCommandName().equals("update")) {
				this.pipeline = command.getArray("updates").get(0).asDocument().isArray("u");
			}
		}

		int count() {
			return this.count.get();
		}

		boolean pipeline() {
			return this.pipeline;
		}

	}

}
