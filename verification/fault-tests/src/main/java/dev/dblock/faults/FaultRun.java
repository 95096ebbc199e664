package dev.dblock.faults;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import com.mongodb.client.MongoDatabase;
import dev.dblock.testing.Cluster;
import org.jspecify.annotations.Nullable;

/**
 * A single run: starts all processes, causes faults, stops all processes and has the
 * history judged.
 */
final class FaultRun {

	private static final String DATABASE = "faults";

	private static final Duration START_LIMIT = Duration.ofMinutes(5);

	private static final int SHORT_SECONDS = 130;

	private final Path mongod;

	private final Path toxiproxy;

	private final Path folder;

	private final Options options;

	private final long seed;

	private final int workers;

	private final Random random;

	FaultRun(Path mongod, Path toxiproxy, Path folder, Options options, int workers) {
		this.mongod = mongod;
		this.toxiproxy = toxiproxy;
		this.folder = folder;
		this.options = options;
		this.seed = options.number("seed", System.nanoTime() & 0xFFFF_FFFFL);
		this.workers = workers;
		this.random = new Random(this.seed);
	}

	/**
	 * Run faults for which the guarantees hold.
	 * @return whether no rule was broken
	 */
	boolean run() throws Exception {
		FakeTime clocks = clocks();
		Duration duration = Duration.ofSeconds(this.options.number("duration", SHORT_SECONDS));
		String only = this.options.text("only", "");
		Schedule schedule = new Schedule(this.random, duration, Faults.all(clocks != null), only);
		new HistoryFolder(this.folder).writePlan(new Plan(duration, only.isEmpty(), schedule.kinds()));
		return new Report(record(clocks, schedule::run, System.getProperty("java.class.path"), List.of()), System.out)
			.print();
	}

	/**
	 * Run one of the faults for which the guarantees do not hold.
	 * @param fault the fault
	 */
	void runApart(Fault fault) throws Exception {
		System.out.println();
		System.out.println("OUTSIDE of what is promised: " + fault.kind());
		new Report(record(clocks(), fault::happen, System.getProperty("java.class.path"),
				List.of("--faults.mix.longer=20")), System.out)
			.print();
	}

	private @Nullable FakeTime clocks() throws IOException {
		System.out.println("seed " + this.seed);
		FakeTime clocks = FakeTime.find(this.folder).orElse(null);
		if (clocks == null) {
			System.out.println("LEFT OUT: all faults of clocks, because " + FakeTime.NOT_FOUND);
		}
		return clocks;
	}

	/**
	 * Run without judging.
	 * @param clocks the clocks, if they can be set
	 * @param course the course of faults
	 * @param classPath the classes of the workers
	 * @param properties additional properties of the workers
	 */
	History record(@Nullable FakeTime clocks, Course course, String classPath, List<String> properties)
			throws Exception {
		FaultLog log = new FaultLog();
		try (Cluster cluster = Cluster.startWithLinks(binaries(this.mongod, clocks));
				Network network = Network.start(this.toxiproxy, this.folder, cluster, this.workers);
				PrimaryProbe probe = new PrimaryProbe(cluster.uri(), DATABASE, log);
				Standstills standstills = Standstills.watch(log)) {
			return record(cluster, network, log, clocks, course, classPath, properties);
		}
	}

	/**
	 * Run without judging, on the servers of another run and beside its workers.
	 * @param world the world of the other run
	 * @param course the course of faults
	 */
	History recordBeside(World world, Course course) throws Exception {
		return record(world.cluster(), world.network(), world.log(), null, course,
				System.getProperty("java.class.path"), List.of());
	}

	private History record(Cluster cluster, Network network, FaultLog log, @Nullable FakeTime clocks, Course course,
			String classPath, List<String> properties) throws Exception {
		Stamps stamps = new Stamps(this.folder);
		try (MongoClient client = MongoClients.create(cluster.uri());
				Fleet fleet = new Fleet(this.folder, uri(cluster), this.seed, clocks, classPath, properties)) {
			MongoDatabase database = client.getDatabase(DATABASE);
			SectionData.create(database);
			World world = new World(cluster, database, fleet, network, clocks, stamps, this.random, log);
			try (ServerWatch watch = new ServerWatch(cluster.uri(), DATABASE)) {
				long begin = System.nanoTime();
				IntStream.rangeClosed(1, this.workers).forEach(fleet::start);
				awaitSections(fleet);
				// As after a kill: as long as a worker starts, the others compete with it
				// for processors
				world.log().add(Window.START, 0, begin);
				course.run(world);
				Faults.insist(cluster::heal);
				List<String> stuck = fleet.stop(stamps);
				awaitFree(watch);
				HistoryFolder history = new HistoryFolder(this.folder);
				history.write(world.log().windows(), watch.stretches(), fleet.lives(), stuck);
				history.writeLedger(SectionData.ledger(database));
				return history.read();
			}
		}
	}

	/**
	 * Return the binaries of three servers. The clocks of two of them are off. The
	 * difference is below the clock allowance minus 250 ms, which is the largest
	 * difference that may be assumed.
	 */
	static List<Path> binaries(Path mongod, @Nullable FakeTime clocks) {
		if (clocks != null) {
			clocks.set("mongod-0", Duration.ZERO);
			clocks.set("mongod-1", Duration.ofMillis(100));
			clocks.set("mongod-2", Duration.ofMillis(-100));
		}
		return IntStream.range(0, 3).mapToObj((member) -> withClock(mongod, member, clocks)).toList();
	}

	/**
	 * Return the binary of a server with the clock of a member.
	 */
	static Path withClock(Path mongod, int member, @Nullable FakeTime clocks) {
		return (clocks != null) ? clocks.wrap("mongod-" + member, mongod) : mongod;
	}

	private static String uri(Cluster cluster) {
		return cluster.uri().replace("/?", "/" + DATABASE + "?");
	}

	/**
	 * Wait until every worker is working. The schedule begins then.
	 */
	private void awaitSections(Fleet fleet) throws IOException, InterruptedException {
		long end = System.nanoTime() + START_LIMIT.toNanos();
		for (int worker : fleet.numbers()) {
			while (Records.read(this.folder, LockName.names())
				.stream()
				.noneMatch((attempt) -> attempt.worker() == worker && attempt.outcome() == Outcome.RELEASED)) {
				if (!fleet.worker(worker).isAlive() || System.nanoTime() > end) {
					fleet.worker(worker).dumpThreads();
					fleet.worker(worker).await(2);
					throw new IllegalStateException("worker " + worker + " does not work; its log says why");
				}
				Thread.sleep(200);
			}
		}
	}

	/**
	 * Wait until all locks are free. A lock without a holder must be free after a lease.
	 */
	private static void awaitFree(ServerWatch watch) throws InterruptedException {
		long end = System.nanoTime() + Duration.ofSeconds(15).toNanos();
		while (System.nanoTime() < end && LockName.names().stream().anyMatch((name) -> watch.holder(name) != null)) {
			Thread.sleep(50);
		}
	}

	/**
	 * Course of the faults in a run.
	 */
	interface Course {

		void run(World world) throws Exception;

	}

}
