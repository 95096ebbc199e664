package dev.dblock.testing;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import com.mongodb.ConnectionString;
import com.mongodb.MongoClientSettings;
import com.mongodb.MongoCommandException;
import com.mongodb.MongoException;
import com.mongodb.MongoTimeoutException;
import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import org.awaitility.Awaitility;
import org.bson.BsonTimestamp;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * One server process that the tests started and may disturb.
 */
public final class MongoNode {

	private static final int NOT_SECONDARY = 95;

	private static final String ELECTION_TIMEOUT = "electionTimeoutMillis";

	/** The state of a member. */
	private static final int PRIMARY = 1;

	private final MongodProcess process;

	private @Nullable MongoClient client;

	private volatile boolean paused;

	private volatile boolean disturbed;

	private volatile boolean failing;

	private volatile boolean steppedDown;

	MongoNode(MongodProcess process) {
		this.process = process;
	}

	/**
	 * Returns the host and port, as replica sets name their members.
	 * @return the address
	 */
	public String address() {
		return "127.0.0.1:" + this.process.port();
	}

	/**
	 * Returns a connection string that leads to this process whatever its role is.
	 * @return the connection string
	 */
	public String uri() {
		return "mongodb://" + address() + "/?directConnection=true";
	}

	/**
	 * Runs a command on the {@code admin} database of this process.
	 * @param command the command
	 * @return the answer
	 */
	public Document command(Document command) {
		return client().getDatabase("admin").runCommand(command);
	}

	/**
	 * Kills the process ({@code SIGKILL}); its data stays.
	 */
	public void kill() {
		this.disturbed = true;
		this.paused = false;
		this.process.kill();
	}

	/**
	 * Starts the process again on its port with its data, and waits until it accepts
	 * connections, not until it has a role again. Kills it first if it runs.
	 */
	public void restart() {
		kill();
		this.process.start();
		this.process.awaitListening();
	}

	/**
	 * Shuts the process down, and starts another version of the server with its data.
	 * Waits until it accepts connections, not until it has a role again.
	 * @param binary the binary of the other version
	 */
	public void replace(Path binary) {
		this.process.replace(binary);
	}

	/**
	 * Stops the process in its tracks ({@code SIGSTOP}): its connections stay open, and
	 * nothing answers.
	 */
	public void pause() {
		this.disturbed = true;
		this.paused = true;
		this.process.signal("STOP");
	}

	/**
	 * Resumes a paused process.
	 */
	public void resume() {
		this.process.signal("CONT");
		this.paused = false;
	}

	/**
	 * Returns whether the process runs and is not paused.
	 * @return whether it can answer
	 */
	public boolean isRunning() {
		return this.process.isAlive() && !this.paused;
	}

	/**
	 * Returns whether the process says that it is primary. A primary that was overtaken
	 * while it was paused says so for a moment after it is resumed.
	 * @return whether it calls itself primary
	 */
	public boolean isPrimary() {
		return hello().map((hello) -> hello.getBoolean("isWritablePrimary", false)).orElse(false);
	}

	/**
	 * Returns whether the process says that it is secondary.
	 * @return whether it calls itself secondary
	 */
	public boolean isSecondary() {
		return hello().map((hello) -> hello.getBoolean("secondary", false)).orElse(false);
	}

	/**
	 * Returns whether the process has a point to roll back to: one that a majority has.
	 */
	boolean canRollBack() {
		return answer("replSetGetStatus").map((status) -> status.get("optimes", Document.class))
			.map((times) -> times.get("readConcernMajorityOpTime"))
			.isPresent();
	}

	/**
	 * Initiates the replica set of which this is a member.
	 * @param set its name
	 * @param addresses those of all members
	 * @param electionTimeout how long the members wait for a primary without a heartbeat,
	 * before they elect another one
	 */
	void initiate(String set, List<String> addresses, Duration electionTimeout) {
		List<Document> members = IntStream.range(0, addresses.size())
			.mapToObj((index) -> new Document("_id", index).append("host", addresses.get(index)))
			.toList();
		Document settings = new Document(ELECTION_TIMEOUT, (int) electionTimeout.toMillis())
			.append("heartbeatIntervalMillis", 500);
		// On a busy machine, the first connection of a new JVM may take longer than the
		// limit of a request
		Awaitility.await("a server that answers")
			.atMost(MongodDeployment.SETTLE_LIMIT)
			.ignoreException(MongoTimeoutException.class)
			.until(() -> command(new Document("ping", 1)).containsKey("ok"));
		command(new Document("replSetInitiate",
				new Document("_id", set).append("members", members).append("settings", settings)));
	}

	/**
	 * Changes the election timeout of the replica set whose primary this is.
	 * @param timeout how long the members wait for a primary without a heartbeat, before
	 * they elect another one
	 * @return the version of the changed configuration
	 */
	public int setElectionTimeout(Duration timeout) {
		Document config = config();
		int version = config.getInteger("version") + 1;
		config.get("settings", Document.class).append(ELECTION_TIMEOUT, (int) timeout.toMillis());
		command(new Document("replSetReconfig", config.append("version", version)));
		return version;
	}

	/**
	 * Returns the configuration of the replica set, as this member knows it.
	 */
	public Document config() {
		return command(new Document("replSetGetConfig", 1)).get("config", Document.class);
	}

	/**
	 * Returns whether the process has won an election, even if it does not accept writes
	 * yet.
	 */
	boolean isElected() {
		return answer("replSetGetStatus").map((status) -> status.getInteger("myState") == PRIMARY).orElse(false);
	}

	/**
	 * Returns the time of the latest write that the process has.
	 */
	BsonTimestamp lastApplied() {
		return answer("replSetGetStatus").map((status) -> status.get("optimes", Document.class))
			.map((times) -> times.get("appliedOpTime", Document.class))
			.map((applied) -> applied.get("ts", BsonTimestamp.class))
			.orElseGet(BsonTimestamp::new);
	}

	/**
	 * Makes a secondary stand for election.
	 * @return whether it was elected
	 */
	boolean stepUp() {
		return answer("replSetStepUp").isPresent();
	}

	private Optional<Document> hello() {
		return answer("hello");
	}

	private Optional<Document> answer(String command) {
		if (!isRunning()) {
			return Optional.empty();
		}
		try {
			return Optional.of(command(new Document(command, 1)));
		}
		catch (MongoException ex) {
			return Optional.empty();
		}
	}

	/**
	 * Describe what the process says of the replica set, and what it logged of it.
	 */
	String describe() {
		return "%s: %s, %s\n%s".formatted(address(),
				this.process.isAlive() ? (this.paused ? "paused" : "running") : "ended",
				hello().map(Document::toJson).orElse("no answer to hello"),
				this.process.logged("REPL|ELECTION|ROLLBACK|\"s\":\"[EF]\"", 40));
	}

	long commandCount(String... commands) {
		Document counters = command(new Document("serverStatus", 1)).get("metrics", Document.class)
			.get("commands", Document.class);
		long sum = 0;
		for (String command : commands) {
			sum += counters.get(command, Document.class).getLong("total");
		}
		return sum;
	}

	void failCommand(FailCommand failCommand) {
		this.failing = true;
		command(failCommand.toCommand());
	}

	void clearFailPoints() {
		if (this.failing && isRunning()) {
			command(new Document("configureFailPoint", "failCommand").append("mode", "off"));
		}
		this.failing = false;
	}

	void stepDown(int seconds) {
		this.disturbed = true;
		this.steppedDown = true;
		command(new Document("replSetStepDown", seconds).append("secondaryCatchUpPeriodSecs", seconds));
	}

	/**
	 * Brings the process back, if a test did something to it.
	 * @return whether it had been disturbed
	 */
	boolean mend() {
		if (this.paused) {
			resume();
		}
		if (!isRunning()) {
			restart();
		}
		clearFailPoints();
		unfreeze();
		boolean disturbed = this.disturbed;
		this.disturbed = false;
		return disturbed;
	}

	private void unfreeze() {
		try {
			if (this.steppedDown && isSecondary()) {
				command(new Document("replSetFreeze", 0));
			}
		}
		catch (MongoCommandException ex) {
			// It was elected meanwhile, so its freeze was over
			if (ex.getErrorCode() != NOT_SECONDARY) {
				throw ex;
			}
		}
		this.steppedDown = false;
	}

	synchronized void stop() {
		if (this.client != null) {
			this.client.close();
			this.client = null;
		}
		this.process.kill();
	}

	private synchronized MongoClient client() {
		if (this.client == null) {
			this.client = MongoClients.create(MongoClientSettings.builder()
				.applyConnectionString(new ConnectionString(uri()))
				.applicationName("test-control")
				.retryReads(false)
				.applyToClusterSettings((cluster) -> cluster.serverSelectionTimeout(20, TimeUnit.SECONDS))
				.applyToSocketSettings(
						(socket) -> socket.connectTimeout(20, TimeUnit.SECONDS).readTimeout(60, TimeUnit.SECONDS))
				.build());
		}
		return this.client;
	}

	@Override
	public String toString() {
		return address();
	}

}
