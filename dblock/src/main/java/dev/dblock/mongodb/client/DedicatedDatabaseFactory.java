package dev.dblock.mongodb.client;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

import com.mongodb.ClientSessionOptions;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCredential;
import com.mongodb.MongoDriverInformation;
import com.mongodb.client.ClientSession;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import com.mongodb.connection.ClusterSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.support.PersistenceExceptionTranslator;
import org.springframework.data.mongodb.MongoDatabaseFactory;
import org.springframework.data.mongodb.core.MongoExceptionTranslator;
import org.springframework.data.mongodb.core.SimpleMongoClientDatabaseFactory;

/**
 * Provides the application's database through a client that serves locks only. If slow
 * queries of the application hold all of its connections, a renewal still gets one. The
 * client has the application's own settings except for a small connection pool and a name
 * that identifies it in the server's log. It is created at first use, together with the
 * driver's threads.
 */
public final class DedicatedDatabaseFactory implements MongoDatabaseFactory, AutoCloseable {

	/**
	 * Renewals of leases of all lengths (27), releases in the background (4) and the
	 * change stream need up to 32 connections. The others are for threads that acquire or
	 * release concurrently. Connections are opened on demand.
	 */
	static final int MOST_CONNECTIONS = 43;

	private static final String NAME = "dblock";

	/**
	 * The driver rejects longer names.
	 */
	private static final int LONGEST_NAME = 128;

	private final PersistenceExceptionTranslator exceptionTranslator = new MongoExceptionTranslator();

	private final String databaseName;

	private final MongoClientSettings settings;

	private final MongoDriverInformation driver;

	private @Nullable MongoClient client;

	private @Nullable SimpleMongoClientDatabaseFactory factory;

	private boolean closed;

	/**
	 * Create a dedicated factory for the database of another factory. This sends no
	 * request to the server.
	 * @param application the application's own factory
	 * @param settings the settings with which the application's own client was created
	 * @param driver the driver information that the application's client sends to the
	 * server
	 * @throws IllegalArgumentException if the factory does not expose to which servers it
	 * connects, or if the application's client discovers them, or authenticates, in
	 * another way than according to the settings
	 */
	public DedicatedDatabaseFactory(MongoDatabaseFactory application, MongoClientSettings settings,
			MongoDriverInformation driver) {
		check(application, settings);
		this.databaseName = application.getMongoDatabase().getName();
		this.settings = dedicated(settings);
		this.driver = driver;
	}

	private static void check(MongoDatabaseFactory application, MongoClientSettings settings) {
		MongoClient client = FactoryClient.of(application);
		if (client == null) {
			throw new IllegalArgumentException("the application's %s does not show which client it uses"
				.formatted(application.getClass().getName()));
		}
		ClusterSettings theirs = client.getClusterDescription().getClusterSettings();
		ClusterSettings mine = settings.getClusterSettings();
		if (!leadToTheSame(theirs, mine)) {
			throw new IllegalArgumentException(
					("the application's client connects to %s, but the known settings lead to %s")
						.formatted(theirs.getShortDescription(), mine.getShortDescription()));
		}
		MongoClientSettings shown = FactoryClient.settingsOf(client);
		if (shown != null) {
			checkSameUser(user(shown), user(settings));
		}
	}

	private static boolean leadToTheSame(ClusterSettings one, ClusterSettings other) {
		return one.getHosts().equals(other.getHosts()) && Objects.equals(one.getSrvHost(), other.getSrvHost())
				&& Objects.equals(one.getRequiredReplicaSetName(), other.getRequiredReplicaSetName())
				&& one.getMode() == other.getMode();
	}

	private static void checkSameUser(String theirs, String mine) {
		if (!theirs.equals(mine)) {
			throw new IllegalArgumentException(
					"the application's client authenticates as %s, but the known settings authenticate as %s"
						.formatted(theirs, mine));
		}
	}

	// Passwords may have been changed since
	private static String user(MongoClientSettings settings) {
		MongoCredential credential = settings.getCredential();
		return (credential != null) ? "'%s' of '%s'".formatted(credential.getUserName(), credential.getSource())
				: "no user";
	}

	private static MongoClientSettings dedicated(MongoClientSettings settings) {
		return MongoClientSettings.builder(settings)
			.applicationName(name(settings.getApplicationName()))
			.applyToConnectionPoolSettings((pool) -> pool.minSize(0).maxSize(MOST_CONNECTIONS))
			.build();
	}

	private static String name(@Nullable String application) {
		if (application == null) {
			return NAME;
		}
		String kept = application;
		String suffix = "-" + NAME;
		while ((kept + suffix).getBytes(StandardCharsets.UTF_8).length > LONGEST_NAME) {
			kept = kept.substring(0, kept.length() - 1);
		}
		return kept + suffix;
	}

	/**
	 * Return the factory for the client, which is created at first use.
	 * @throws IllegalStateException if this factory is closed
	 */
	synchronized SimpleMongoClientDatabaseFactory open() {
		if (this.closed) {
			// The driver's own message, so that it is translated like that of any closed
			// client
			throw new IllegalStateException("state should be: open");
		}
		SimpleMongoClientDatabaseFactory present = this.factory;
		if (present == null) {
			MongoClient client = MongoClients.create(this.settings, this.driver);
			present = new SimpleMongoClientDatabaseFactory(client, this.databaseName);
			this.client = client;
			this.factory = present;
		}
		return present;
	}

	MongoClientSettings settings() {
		return this.settings;
	}

	public String databaseName() {
		return this.databaseName;
	}

	@Override
	public MongoDatabase getMongoDatabase() {
		return open().getMongoDatabase();
	}

	@Override
	public MongoDatabase getMongoDatabase(String dbName) {
		return open().getMongoDatabase(dbName);
	}

	@Override
	public PersistenceExceptionTranslator getExceptionTranslator() {
		return this.exceptionTranslator;
	}

	@Override
	public ClientSession getSession(ClientSessionOptions options) {
		return open().getSession(options);
	}

	@Override
	public MongoDatabaseFactory withSession(ClientSession session) {
		return open().withSession(session);
	}

	/**
	 * Close the client. Later requests are refused.
	 */
	@Override
	public synchronized void close() {
		this.closed = true;
		if (this.client != null) {
			this.client.close();
		}
	}

}
