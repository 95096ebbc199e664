package dev.dblock.testing;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import com.mongodb.MongoException;
import org.awaitility.Awaitility;
import org.bson.Document;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;

import org.springframework.util.FileSystemUtils;

/**
 * Replica set of three servers outside of any test. The servers end with this process.
 */
@NullMarked
public final class Cluster implements AutoCloseable {

	private static final String SET_NAME = "dblock";

	private static final String FOLDER = "dblock-faults-mongod-";

	private static final int MEMBERS = 3;

	private static final int PORT_ATTEMPTS = 5;

	private static final Duration ELECTION_TIMEOUT = Duration.ofSeconds(2);

	private static final Duration SETTLE_LIMIT = Duration.ofSeconds(180);

	private static final List<String> ARGUMENTS = List.of("--replSet", SET_NAME, "--oplogSize", "64",
			"--wiredTigerCacheSizeGB", "0.25", "--setParameter", "enableTestCommands=1", "--setParameter",
			"diagnosticDataCollectionEnabled=false");

	private final Path folder;

	private final List<MongodProcess> processes;

	private final List<MongoNode> nodes;

	private final List<Integer> announcedPorts;

	private final @Nullable MemberLinks links;

	private Cluster(Path folder, List<MongodProcess> processes, List<Integer> announcedPorts,
			@Nullable MemberLinks links) {
		this.folder = folder;
		this.processes = processes;
		this.nodes = processes.stream().map(MongoNode::new).toList();
		this.announcedPorts = announcedPorts;
		this.links = links;
	}

	/**
	 * Start the servers and wait for a primary.
	 * @param binary the binary of the server
	 * @return the replica set
	 */
	public static Cluster start(Path binary) {
		return started(() -> {
			Path folder = ServerFolder.ofThisMachine().create(FOLDER);
			List<MongodProcess> processes = processes(List.of(binary, binary, binary), folder, Ports.free(MEMBERS));
			return new Cluster(folder, processes, processes.stream().map(MongodProcess::port).toList(), null);
		});
	}

	/**
	 * Start the servers with links between them, which can be stalled in each direction
	 * separately. The members, and through them the clients, know each other by the
	 * addresses of the links.
	 * @param binaries the binary of the server for each member
	 * @return the replica set
	 */
	public static Cluster startWithLinks(List<Path> binaries) {
		return started(() -> {
			Path folder = ServerFolder.ofThisMachine().create(FOLDER);
			List<Integer> ports = Ports.free(2 * MEMBERS);
			List<MongodProcess> processes = processes(binaries, folder, ports.subList(0, MEMBERS));
			List<Integer> announced = ports.subList(MEMBERS, 2 * MEMBERS);
			return new Cluster(folder, processes, announced, new MemberLinks(processes, announced));
		});
	}

	private static List<MongodProcess> processes(List<Path> binaries, Path folder, List<Integer> ports) {
		List<MongodProcess> processes = new ArrayList<>();
		for (int i = 0; i < MEMBERS; i++) {
			processes.add(new MongodProcess(binaries.get(i), folder, ports.get(i), ARGUMENTS));
		}
		return processes;
	}

	private static Cluster started(Supplier<Cluster> onFreePorts) {
		for (int attempt = 1;; attempt++) {
			try {
				return started(onFreePorts.get());
			}
			catch (MongodProcess.PortTakenException ex) {
				if (attempt == PORT_ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	private static Cluster started(Cluster cluster) {
		try {
			if (cluster.links != null) {
				cluster.links.open();
			}
			cluster.processes.forEach(MongodProcess::start);
			cluster.processes.forEach(MongodProcess::awaitListening);
			cluster.initiate();
			return cluster;
		}
		catch (RuntimeException ex) {
			cluster.close();
			throw ex;
		}
	}

	private void initiate() {
		this.nodes.get(0)
			.initiate(SET_NAME, IntStream.range(0, MEMBERS).mapToObj(this::announced).toList(), ELECTION_TIMEOUT);
		awaitSettled();
	}

	private String announced(int member) {
		return "127.0.0.1:" + this.announcedPorts.get(member);
	}

	/**
	 * Wait until one member is primary, all others are secondaries, and each has a point
	 * to roll back to.
	 */
	public void awaitSettled() {
		MongodDeployment.awaitSettled(this.nodes, Duration.ZERO);
	}

	/**
	 * Return the current primary.
	 * @return the number of the member, or less than zero if there is none
	 */
	public int primary() {
		for (int i = 0; i < MEMBERS; i++) {
			if (this.nodes.get(i).isPrimary()) {
				return i;
			}
		}
		return -1;
	}

	/**
	 * Wait until one member is primary.
	 * @return the number of the member
	 */
	public int awaitPrimary() {
		return awaitPrimaryOtherThan(-1);
	}

	/**
	 * Wait until another member is primary.
	 * @param former the number of the member to ignore
	 * @return the number of the new primary
	 */
	public int awaitPrimaryOtherThan(int former) {
		return Awaitility.await("a primary")
			.atMost(SETTLE_LIMIT)
			.pollDelay(Duration.ZERO)
			.pollInterval(Duration.ofMillis(20))
			.until(() -> IntStream.range(0, MEMBERS)
				.filter((member) -> member != former && this.nodes.get(member).isPrimary())
				.findFirst()
				.orElse(-1), (member) -> member >= 0);
	}

	/**
	 * Return a member.
	 * @param member the number of the member
	 * @return the member, running or not
	 */
	public MongoNode node(int member) {
		return this.nodes.get(member);
	}

	/**
	 * Return the number of members.
	 * @return the number
	 */
	public int size() {
		return MEMBERS;
	}

	/**
	 * Return the port on which a member actually listens.
	 * @param member the number of the member
	 * @return the port
	 */
	public int port(int member) {
		return this.processes.get(member).port();
	}

	/**
	 * Return the port by which the members and the clients know a member.
	 * @param member the number of the member
	 * @return the port
	 */
	public int announcedPort(int member) {
		return this.announcedPorts.get(member);
	}

	/**
	 * Make a primary hand over to a member that has caught up.
	 * @param member the number of the primary
	 * @param seconds how long it must not be elected again
	 */
	public void stepDown(int member, int seconds) {
		this.nodes.get(member).stepDown(seconds);
	}

	/**
	 * Make a member primary. It stands for election until it wins.
	 * @param member the number of the member
	 */
	public void stepUp(int member) {
		MongoNode node = this.nodes.get(member);
		Awaitility.await("member " + member + " as primary")
			.atMost(SETTLE_LIMIT)
			.pollDelay(Duration.ZERO)
			.ignoreExceptionsInstanceOf(MongoException.class)
			.until(() -> node.isPrimary()
					|| (node.command(new Document("replSetStepUp", 1)).containsKey("ok") && node.isPrimary()));
	}

	/**
	 * Let the members wait for a primary without a heartbeat for this long, before they
	 * elect another one.
	 * @param timeout how long
	 */
	public void setElectionTimeout(Duration timeout) {
		int unused = this.nodes.get(awaitPrimary()).setElectionTimeout(timeout);
		awaitSettled();
	}

	/**
	 * Return how many elections there have been.
	 * @return the term of the primary
	 */
	public long term() {
		return this.nodes.get(awaitPrimary()).command(new Document("replSetGetStatus", 1)).getLong("term");
	}

	/**
	 * Shut a member down and start another version of the server with its data.
	 * @param member the number of the member
	 * @param binary the binary of the other version
	 */
	public void replace(int member, Path binary) {
		this.nodes.get(member).replace(binary);
		awaitSettled();
	}

	/**
	 * Return the version of the server of a member.
	 * @param member the number of the member
	 * @return the version
	 */
	public String version(int member) {
		return this.nodes.get(member).command(new Document("buildInfo", 1)).getString("version");
	}

	/**
	 * Make commands fail on a member.
	 * @param member the number of the member
	 * @param failCommand the commands and their failure
	 */
	public void failCommand(int member, FailCommand failCommand) {
		this.nodes.get(member).failCommand(failCommand);
	}

	/**
	 * Delay everything that one member sends to another, until {@link #heal()}.
	 * @param from the number of the sender
	 * @param to the number of the receiver
	 */
	public void stall(int from, int to) {
		if (this.links == null) {
			throw new IllegalStateException("the members of this replica set have no links between them");
		}
		this.links.stall(from, to);
	}

	/**
	 * Restore all links between the members.
	 */
	public void healLinks() {
		if (this.links != null) {
			this.links.heal();
		}
	}

	/**
	 * End all failures of commands.
	 */
	public void clearFailPoints() {
		this.nodes.forEach(MongoNode::clearFailPoints);
	}

	/**
	 * Undo all disturbances of the members and their links.
	 */
	public void heal() {
		healLinks();
		this.nodes.forEach(MongoNode::mend);
		awaitSettled();
	}

	/**
	 * Return the connection string for all members.
	 * @return the connection string
	 */
	public String uri() {
		String hosts = IntStream.range(0, MEMBERS).mapToObj(this::announced).collect(Collectors.joining(","));
		return "mongodb://" + hosts + "/?replicaSet=" + SET_NAME;
	}

	@Override
	public void close() {
		this.nodes.forEach(MongoNode::stop);
		if (this.links != null) {
			this.links.close();
		}
		FileSystemUtils.deleteRecursively(this.folder.toFile());
	}

}
