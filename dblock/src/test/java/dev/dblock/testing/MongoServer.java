package dev.dblock.testing;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

import com.mongodb.MongoNodeIsRecoveringException;
import com.mongodb.MongoNotPrimaryException;
import com.mongodb.MongoSocketException;
import com.mongodb.client.MongoClient;
import org.bson.Document;

/**
 * A test's view of its MongoDB server. Databases that it took are dropped after the test,
 * or after all tests of the class if it was injected into a constructor or a
 * {@code @BeforeAll} method.
 */
public class MongoServer {

	private static final int DROP_ATTEMPTS = 5;

	private final Deployment deployment;

	private final List<String> databases = new CopyOnWriteArrayList<>();

	MongoServer(Deployment deployment) {
		this.deployment = deployment;
	}

	/**
	 * Returns the actual kind of the server, never the requested one;
	 * {@link MongoServerKind#ANY} means a sharded cluster.
	 * @return the kind
	 */
	public MongoServerKind kind() {
		return this.deployment.kind();
	}

	/**
	 * Returns whether it is MongoDB, not the embedded stand-in.
	 * @return whether it is real
	 */
	public boolean isReal() {
		return kind() != MongoServerKind.EMBEDDED;
	}

	/**
	 * Returns whether the server has transactions and change streams.
	 * @return whether there are transactions
	 */
	public boolean supportsTransactions() {
		return this.deployment.supportsTransactions();
	}

	/**
	 * Returns a connection string.
	 * @return the connection string
	 */
	public String uri() {
		return this.deployment.uri();
	}

	/**
	 * Returns a connection string for one database, as {@code spring.mongodb.uri} takes
	 * it.
	 * @param database the database
	 * @return the connection string
	 */
	public String uri(String database) {
		return ConnectionStrings.withDatabase(uri(), database);
	}

	/**
	 * Returns a client with the driver's default settings, which all tests share and none
	 * closes.
	 * @return the client
	 */
	public MongoClient client() {
		return this.deployment.client();
	}

	/**
	 * Returns the first number of the server's version.
	 * @return the number
	 */
	public int majorVersion() {
		return client().getDatabase("admin")
			.runCommand(new Document("buildInfo", 1))
			.getList("versionArray", Integer.class)
			.get(0);
	}

	/**
	 * Makes up the name of a database that nothing else uses.
	 * @return the name of the database
	 */
	public String freshDatabase() {
		String name = "test-" + UUID.randomUUID();
		this.databases.add(name);
		return name;
	}

	/**
	 * Returns the server's processes.
	 * @return all members, the only process of a standalone server, or nothing if the
	 * server was not started by the tests
	 */
	public List<MongoNode> nodes() {
		return this.deployment.nodes();
	}

	/**
	 * Makes commands fail on the server that takes the writes now.
	 * @param failCommand which commands, and how
	 */
	public void failCommand(FailCommand failCommand) {
		controlled().primary().failCommand(failCommand);
	}

	/**
	 * Makes commands fail on every member; {@link FailCommand#times(int) times} counts on
	 * each for itself.
	 * @param failCommand which commands, and how
	 */
	public void failCommandOnAllNodes(FailCommand failCommand) {
		running().forEach((node) -> node.failCommand(failCommand));
	}

	/**
	 * Ends all failures.
	 */
	public void clearFailPoints() {
		nodes().forEach(MongoNode::clearFailPoints);
	}

	/**
	 * Returns how many commands of the given names all running members have received
	 * since each was started, {@code updateMany} being an {@code update}.
	 * @param commands the names as the server knows them
	 * @return the sum of the server's own counters
	 */
	public long commandCount(String... commands) {
		return running().stream().mapToLong((node) -> node.commandCount(commands)).sum();
	}

	private List<MongoNode> running() {
		return controlled().nodes().stream().filter(MongoNode::isRunning).toList();
	}

	final MongodDeployment controlled() {
		if (this.deployment instanceof MongodDeployment mongod) {
			return mongod;
		}
		throw new IllegalStateException("The test disturbs or watches " + this.deployment
				+ ", which it did not start: annotate it with @MongoServerTest(faults = true)");
	}

	/**
	 * Leaves the server as it was before the test.
	 */
	final void release() {
		this.deployment.mend();
		this.databases.forEach(this::drop);
		this.databases.clear();
	}

	/**
	 * The driver does not repeat the command after an election or a lost connection.
	 */
	private void drop(String name) {
		for (int attempt = 1;; attempt++) {
			try {
				client().getDatabase(name).drop();
				return;
			}
			catch (MongoNotPrimaryException | MongoNodeIsRecoveringException | MongoSocketException ex) {
				if (attempt == DROP_ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	@Override
	public String toString() {
		return this.deployment.toString();
	}

}
