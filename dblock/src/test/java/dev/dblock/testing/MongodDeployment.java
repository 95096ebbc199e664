package dev.dblock.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.bson.Document;

import org.springframework.util.FileSystemUtils;

/**
 * Servers that the tests started from a {@code mongod} binary: a standalone one, or the
 * members of a replica set.
 */
final class MongodDeployment extends Deployment {

	private static final String SET_NAME = "dblock";

	private static final String ADMIN = "admin:secret@";

	static final Duration SETTLE_LIMIT = Duration.ofSeconds(180);

	/** Several heartbeats. */
	private static final Duration SETTLED = Duration.ofMillis(1500);

	/**
	 * A machine that stalls for some seconds must not cause an election. The tests call
	 * for one where they need it.
	 */
	private static final Duration ELECTION_TIMEOUT = Duration.ofSeconds(30);

	/** How long a primary that steps down may take to hand over. */
	private static final Duration HANDED_OVER = Duration.ofSeconds(1);

	private static final int PORT_ATTEMPTS = 5;

	private final Path folder;

	private final List<MongoNode> nodes;

	private MongodDeployment(MongoServerKind kind, Path folder, List<MongoNode> nodes) {
		super(kind);
		this.folder = folder;
		this.nodes = nodes;
	}

	static MongodDeployment start(Path binary, MongoServerKind kind) {
		for (int attempt = 1;; attempt++) {
			try {
				return startOnce(binary, kind);
			}
			catch (MongodProcess.PortTakenException ex) {
				if (attempt == PORT_ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	private static MongodDeployment startOnce(Path binary, MongoServerKind kind) {
		Path folder = ServerFolder.ofThisMachine().create("dblock-mongod-");
		List<MongodProcess> processes = Ports.free(kind.members())
			.stream()
			.map((port) -> new MongodProcess(binary, folder, port, arguments(kind, folder)))
			.toList();
		MongodDeployment deployment = new MongodDeployment(kind, folder,
				processes.stream().map(MongoNode::new).toList());
		try {
			processes.forEach(MongodProcess::start);
			processes.forEach(MongodProcess::awaitListening);
			if (kind.isReplicaSet()) {
				deployment.initiate();
			}
			return deployment;
		}
		catch (RuntimeException ex) {
			deployment.close();
			throw ex;
		}
	}

	private static List<String> arguments(MongoServerKind kind, Path folder) {
		List<String> arguments = new ArrayList<>(
				List.of("--wiredTigerCacheSizeGB", "0.25", "--setParameter", "enableTestCommands=1", "--setParameter",
						"ttlMonitorSleepSecs=1", "--setParameter", "diagnosticDataCollectionEnabled=false",
						// Its own commands would be counted with those of a test.
						"--setParameter", "disableLogicalSessionCacheRefresh=true"));
		if (kind.isReplicaSet()) {
			arguments.addAll(List.of("--replSet", SET_NAME, "--oplogSize", "64"));
		}
		if (kind == MongoServerKind.REPLICA_SET_1_WITH_USERS) {
			arguments.addAll(List.of("--keyFile", keyFile(folder).toString()));
		}
		return arguments;
	}

	/**
	 * Members of a replica set with users need one to trust each other.
	 */
	private static Path keyFile(Path folder) {
		try {
			Path file = Files.writeString(folder.resolve("key"), "onlyForTests");
			return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void initiate() {
		this.nodes.get(0).initiate(SET_NAME, this.nodes.stream().map(MongoNode::address).toList(), ELECTION_TIMEOUT);
		awaitPrimary();
		awaitSettled(this.nodes, Duration.ZERO);
		if (kind() == MongoServerKind.REPLICA_SET_1_WITH_USERS) {
			// The first user may be created by any client on the same machine
			this.nodes.get(0)
				.command(new Document("createUser", "admin").append("pwd", "secret").append("roles", List.of("root")));
		}
	}

	/**
	 * Lets the servers behave as one of the version before where their data depend on it.
	 */
	void setFeatureCompatibilityVersion(String version) {
		client().getDatabase("admin").runCommand(new Document("setFeatureCompatibilityVersion", version));
	}

	/**
	 * Waits until the members are settled, and stay so: one that was overtaken is
	 * secondary for a moment before it rolls back the writes that no other member has.
	 */
	void awaitSettled() {
		awaitPrimary();
		awaitSettled(this.nodes, SETTLED);
	}

	/**
	 * Waits until one member is primary and all others are secondaries. Each must also
	 * have a point to roll back to: one without it ends itself when it must roll back, as
	 * after a pause right after its start.
	 */
	static void awaitSettled(List<MongoNode> nodes, Duration atLeast) {
		awaitState("one primary, all others secondary", nodes, atLeast,
				() -> count(nodes, MongoNode::isPrimary) == 1
						&& count(nodes, MongoNode::isSecondary) == nodes.size() - 1
						&& (nodes.size() == 1 || nodes.stream().allMatch(MongoNode::canRollBack)));
	}

	/**
	 * Waits until one of the members that can answer is primary, and no other says so.
	 * One that has stepped down hands over by itself; after another end of a primary, the
	 * members would wait for much longer.
	 */
	MongoNode awaitPrimary() {
		long start = System.nanoTime();
		awaitState("one primary", this.nodes, Duration.ZERO, () -> {
			if (System.nanoTime() - start > HANDED_OVER.toNanos()) {
				electPrimary();
			}
			return count(this.nodes, MongoNode::isPrimary) == 1;
		});
		return primary();
	}

	/**
	 * Elects the secondary with the latest writes, unless there is a primary, or a member
	 * that is about to become it.
	 */
	private void electPrimary() {
		if (this.nodes.stream().noneMatch(MongoNode::isElected)) {
			boolean unused = this.nodes.stream()
				.filter(MongoNode::isSecondary)
				.sorted(Comparator.comparing(MongoNode::lastApplied).reversed())
				.anyMatch(MongoNode::stepUp);
		}
	}

	/**
	 * Waits until a member is primary, as after an election on a busy machine.
	 */
	MongoNode primary() {
		if (!kind().isReplicaSet()) {
			return this.nodes.get(0);
		}
		awaitState("a primary", this.nodes, Duration.ZERO, () -> count(this.nodes, MongoNode::isPrimary) > 0);
		return this.nodes.stream()
			.filter(MongoNode::isPrimary)
			.findFirst()
			.orElseThrow(() -> new IllegalStateException("no member is primary any more"));
	}

	private static long count(List<MongoNode> nodes, Predicate<MongoNode> role) {
		return nodes.stream().filter(role).count();
	}

	private static void awaitState(String what, List<MongoNode> nodes, Duration atLeast, Callable<Boolean> state) {
		try {
			Awaitility.await(what)
				.atMost(SETTLE_LIMIT)
				.pollDelay(Duration.ZERO)
				.pollInterval(Duration.ofMillis(50))
				.during(atLeast)
				.until(state);
		}
		catch (ConditionTimeoutException ex) {
			throw new IllegalStateException(
					ex.getMessage() + "\n" + nodes.stream().map(MongoNode::describe).collect(Collectors.joining("\n")),
					ex);
		}
	}

	@Override
	String uri() {
		String hosts = this.nodes.stream().map(MongoNode::address).collect(Collectors.joining(","));
		String user = (kind() == MongoServerKind.REPLICA_SET_1_WITH_USERS) ? ADMIN : "";
		return "mongodb://" + user + hosts + (kind().isReplicaSet() ? "/?replicaSet=" + SET_NAME : "/");
	}

	@Override
	List<MongoNode> nodes() {
		return this.nodes;
	}

	@Override
	void mend() {
		long disturbed = this.nodes.stream().filter(MongoNode::mend).count();
		if (disturbed > 0 && kind().isReplicaSet()) {
			awaitSettled();
		}
	}

	@Override
	void stop() {
		this.nodes.forEach(MongoNode::stop);
		FileSystemUtils.deleteRecursively(this.folder.toFile());
	}

	@Override
	public String toString() {
		return kind() + " at " + uri();
	}

}
