package dev.dblock.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.bson.Document;
import org.jspecify.annotations.NullMarked;

import org.springframework.util.FileSystemUtils;

/**
 * Three servers of a replica set, outside of any test. They go when this process goes.
 */
@NullMarked
public final class Cluster implements AutoCloseable {

	/**
	 * The name of the replica set.
	 */
	public static final String SET_NAME = "dblock";

	private static final int MEMBERS = 3;

	private static final Duration SETTLE_LIMIT = Duration.ofSeconds(60);

	private static final List<String> ARGUMENTS = List.of("--replSet", SET_NAME, "--oplogSize", "64",
			"--wiredTigerCacheSizeGB", "0.25", "--setParameter", "enableTestCommands=1", "--setParameter",
			"diagnosticDataCollectionEnabled=false");

	private final Path folder;

	private final List<MongoNode> nodes;

	private Cluster(Path folder, List<MongoNode> nodes) {
		this.folder = folder;
		this.nodes = nodes;
	}

	/**
	 * Start the servers and wait for a primary.
	 * @param binary the server's binary
	 * @return the replica set
	 */
	public static Cluster start(Path binary) {
		Path folder = temporaryFolder();
		List<MongodProcess> processes = new ArrayList<>();
		Ports.free(MEMBERS).forEach((port) -> processes.add(new MongodProcess(binary, folder, port, ARGUMENTS)));
		Cluster cluster = new Cluster(folder, processes.stream().map(MongoNode::new).toList());
		try {
			processes.forEach(MongodProcess::start);
			processes.forEach(MongodProcess::awaitListening);
			cluster.initiate();
			return cluster;
		}
		catch (RuntimeException ex) {
			cluster.close();
			throw ex;
		}
	}

	private static Path temporaryFolder() {
		try {
			return Files.createTempDirectory("dblock-faults-mongod-");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void initiate() {
		List<Document> members = IntStream.range(0, MEMBERS)
			.mapToObj((index) -> new Document("_id", index).append("host", this.nodes.get(index).address()))
			.toList();
		Document settings = new Document("electionTimeoutMillis", 2000).append("heartbeatIntervalMillis", 500);
		this.nodes.get(0)
			.command(new Document("replSetInitiate",
					new Document("_id", SET_NAME).append("members", members).append("settings", settings)));
		awaitSettled();
	}

	/**
	 * Wait until one member is primary and all others are secondaries.
	 */
	public void awaitSettled() {
		Awaitility.await("one primary, all others secondary")
			.atMost(SETTLE_LIMIT)
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(50))
			.until(() -> count(MongoNode::isPrimary) == 1 && count(MongoNode::isSecondary) == MEMBERS - 1);
	}

	private long count(Predicate<MongoNode> role) {
		return this.nodes.stream().filter(role).count();
	}

	/**
	 * The members.
	 * @return all of them, running or not
	 */
	public List<MongoNode> nodes() {
		return this.nodes;
	}

	/**
	 * The connection string for all members.
	 * @return the connection string
	 */
	public String uri() {
		String hosts = this.nodes.stream().map(MongoNode::address).collect(Collectors.joining(","));
		return "mongodb://" + hosts + "/?replicaSet=" + SET_NAME;
	}

	@Override
	public void close() {
		this.nodes.forEach(MongoNode::stop);
		FileSystemUtils.deleteRecursively(this.folder.toFile());
	}

}
