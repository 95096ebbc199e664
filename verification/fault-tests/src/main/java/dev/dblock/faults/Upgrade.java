package dev.dblock.faults;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import dev.dblock.testing.Cluster;
import org.bson.Document;
import org.jspecify.annotations.Nullable;

/**
 * Upgrades three servers, one after the other, through several versions, while workers
 * acquire locks and others run scheduled jobs.
 */
final class Upgrade {

	private static final int WORKERS = 3;

	/** Time in a state in which nothing happens. */
	private static final int QUIET_MILLIS = 5000;

	private final List<Path> binaries;

	private final Path toxiproxy;

	private final Path folder;

	private final Options options;

	private final List<String> versions = new ArrayList<>();

	private final List<ServerState> states = new ArrayList<>();

	private @Nullable FakeTime clocks;

	private @Nullable History sections;

	/**
	 * Create an upgrade.
	 * @param binaries the binaries of the versions, in the order of the upgrades
	 */
	Upgrade(List<Path> binaries, Path toxiproxy, Path folder, Options options) {
		this.binaries = binaries;
		this.toxiproxy = toxiproxy;
		this.folder = folder;
		this.options = options;
	}

	/**
	 * Run all upgrades.
	 * @return whether no rule was broken
	 */
	boolean run() throws Exception {
		Path records = Files.createDirectories(this.folder.resolve("sections"));
		FaultRun run = new FaultRun(this.binaries.get(0), this.toxiproxy, records, this.options, WORKERS);
		JobFaults jobs = new JobFaults(this.binaries.get(0), this.toxiproxy, this.folder, this.options);
		JobRound round = new JobRound("jobs", "cron", JobRound.CLOSE.subList(0, WORKERS),
				(world) -> this.sections = run.recordBeside(world, this::upgrade));
		this.clocks = FakeTime.find(this.folder).orElse(null);
		boolean passed = jobs.run(List.of(round));
		if (this.sections == null) {
			throw new IllegalStateException("the upgrade was not run");
		}
		passed &= new Report(this.sections, System.out).print();
		UpgradeJudge judge = new UpgradeJudge(this.versions, this.states, this.sections,
				JobRecords.read(jobs.records(round)));
		System.out.println(judge.figures());
		for (Finding finding : judge.findings()) {
			finding.print(System.out);
			passed &= finding.passed();
		}
		return passed;
	}

	private void upgrade(World world) throws InterruptedException {
		this.versions.add(world.cluster().version(0));
		quiet(world);
		for (Path binary : this.binaries.subList(1, this.binaries.size())) {
			upgrade(world, binary);
		}
	}

	/**
	 * Upgrade the secondaries first, as MongoDB's manual demands it. The first of them
	 * becomes primary and is killed while the others have the older version.
	 */
	private void upgrade(World world, Path binary) throws InterruptedException {
		Cluster cluster = world.cluster();
		int first = secondary(cluster);
		replace(world, first, binary);
		String older = this.versions.get(this.versions.size() - 1);
		String newer = cluster.version(first);
		this.versions.add(newer);
		quiet(world);
		stepUp(world, first);
		quiet(world);
		ServerFaults.killPrimary(world, UpgradeJudge.killed(newer, older), first);
		quiet(world);
		for (int member = 0; member < cluster.size(); member++) {
			if (!cluster.version(member).equals(newer)) {
				if (cluster.awaitPrimary() == member) {
					ServerFaults.stepDown(world, "primary stepped down");
				}
				replace(world, member, binary);
				quiet(world);
			}
		}
		setFeatureCompatibilityVersion(world, newer.substring(0, newer.lastIndexOf('.')));
		quiet(world);
		ServerFaults.freezePrimary(world, "primary frozen");
		quiet(world);
	}

	private static int secondary(Cluster cluster) {
		return (cluster.awaitPrimary() + 1) % cluster.size();
	}

	private void replace(World world, int member, Path binary) {
		long begin = System.nanoTime();
		world.cluster().replace(member, FaultRun.withClock(binary, member, this.clocks));
		world.log().add("server replaced", 0, begin);
	}

	private static void stepUp(World world, int member) {
		long begin = System.nanoTime();
		world.cluster().stepUp(member);
		world.log().add("primary of newer version elected", 0, begin);
	}

	private static void setFeatureCompatibilityVersion(World world, String version) {
		long begin = System.nanoTime();
		Cluster cluster = world.cluster();
		Faults.insist(() -> cluster.node(cluster.awaitPrimary())
			.command(new Document("setFeatureCompatibilityVersion", version)));
		world.log().add("compatibility version set", 0, begin);
	}

	/**
	 * Let the workers work for a while, and note the state of the servers.
	 */
	private void quiet(World world) throws InterruptedException {
		Cluster cluster = world.cluster();
		cluster.awaitSettled();
		int primary = cluster.awaitPrimary();
		long begin = System.nanoTime();
		world.sleep(QUIET_MILLIS);
		String members = IntStream.range(0, cluster.size())
			.mapToObj((member) -> cluster.version(member) + ((member == primary) ? "*" : ""))
			.collect(Collectors.joining(" "));
		String compatibility = cluster.node(primary)
			.command(new Document("getParameter", 1).append("featureCompatibilityVersion", 1))
			.get("featureCompatibilityVersion", Document.class)
			.getString("version");
		this.states.add(new ServerState(members + ", FCV " + compatibility, new Span(begin, System.nanoTime())));
	}

}
