package dev.dblock.faults;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

import com.mongodb.MongoException;
import dev.dblock.faults.Network.Disturbance;
import dev.dblock.testing.Cluster;
import dev.dblock.testing.FailCommand;

/**
 * Faults for which the guarantees hold.
 */
final class Faults {

	private static final int SHORT_LEASE_MILLIS = 3500;

	private static final long LONGEST_START_MILLIS = 120_000;

	private static final long LOOK_MILLIS = 20;

	private static final int TRIES = 5;

	private static final Duration FIND_WRITER = Duration.ofSeconds(15);

	private static final String[] WRITES = { "findAndModify", "update" };

	private Faults() {
	}

	static List<Fault> all(boolean clocks) {
		List<Fault> faults = new ArrayList<>(List.of(worker("worker killed", Faults::killWorker),
				worker("unfenced writer stopped", (world, kind) -> stopWriter(world, kind, Moment.UNFENCED)),
				worker("fenced writer stopped",
						(world, kind) -> stopWriter(world, kind, Moment.TOKEN, Moment.TRANSACTION)),
				worker("writer stopped before fence", (world, kind) -> stopWriter(world, kind, Moment.FENCE)),
				worker("writer stopped before commit", (world, kind) -> stopWriter(world, kind, Moment.COMMIT)),
				worker("worker pauses", Faults::pauseWorker),
				worker("worker stopped for long",
						(world, kind) -> stopWorker(world, kind, world.anyWorker(), world.between(11_000, 13_000))),
				servers("primary killed", ServerFaults::killPrimary),
				servers("primary stepped down", ServerFaults::stepDown),
				servers("primary frozen", ServerFaults::freezePrimary),
				servers("primary frozen shortly", ServerFaults::freezePrimaryShortly),
				servers("primary cut off", (world, kind) -> ServerFaults.cutOff(world, kind, true, true)),
				servers("primary unheard", (world, kind) -> ServerFaults.cutOff(world, kind, true, false)),
				servers("primary deaf", (world, kind) -> ServerFaults.cutOff(world, kind, false, true)),
				servers("no majority", ServerFaults::freezeSecondaries),
				servers("replication stopped", ServerFaults::stopReplication),
				link("latency and jitter", Disturbance.latency(200, 150)),
				link("latency near renewal limit", Disturbance.latency(900, 400)),
				link("bandwidth cut", Disturbance.bandwidth(4)), link("connections reset", Disturbance.reset(100)),
				link("requests swallowed", Disturbance.swallowRequests()),
				link("answers swallowed", Disturbance.swallowAnswers()),
				commands("commands interrupted", FailCommand.on(WRITES).errorCode(11602), 40),
				commands("commands out of time", FailCommand.on(WRITES).errorCode(50), 20),
				commands("connections closed", FailCommand.on(WRITES).closeConnection(), 20),
				commands("commands blocked", FailCommand.on(WRITES).blockFor(Duration.ofMillis(1500)), 20),
				commands("stream's reads fail", FailCommand.on("getMore").errorCode(11602), 20),
				commands("stream's reads cut", FailCommand.on("getMore").closeConnection(), 20),
				commands("stream's reads blocked", FailCommand.on("getMore").blockFor(Duration.ofMillis(3000)), 20),
				commands("write concern unmet", FailCommand.on(WRITES).writeConcernError(64), 20)));
		if (clocks) {
			faults.add(worker("worker an hour ahead", (world, kind) -> moveClock(world, kind, 1)));
			faults.add(worker("worker an hour behind", (world, kind) -> moveClock(world, kind, -1)));
		}
		return faults;
	}

	private static Fault worker(String kind, Fault.Action action) {
		return new Fault(kind, false, action);
	}

	private static Fault servers(String kind, Fault.Action action) {
		return new Fault(kind, true, action);
	}

	/**
	 * Kill a worker and start it again. The fault ends when the new process has done some
	 * work. A process that never does is reported by the fleet.
	 */
	static void killWorker(World world, String kind) throws InterruptedException {
		killWorker(world, kind, world.anyWorker());
	}

	static void killWorker(World world, String kind, int worker) throws InterruptedException {
		long begin = System.nanoTime();
		world.fleet().kill(worker);
		try {
			world.sleep(world.between(0, 2000));
			world.fleet().start(worker);
			for (long waited = 0; waited < LONGEST_START_MILLIS
					&& !world.fleet().isWorking(worker); waited += LOOK_MILLIS) {
				world.sleep(LOOK_MILLIS);
			}
		}
		finally {
			world.log().add(kind, worker, begin);
		}
	}

	/**
	 * Stop a worker for longer than its leases while one of its sections is at a moment
	 * of its writing. If there is none for a long time, stop any worker.
	 */
	static void stopWriter(World world, String kind, long millis, Moment... moments) throws InterruptedException {
		stopWriter(world, kind, FIND_WRITER, millis, moments);
	}

	static void stopWriter(World world, String kind, Duration search, long millis, Moment... moments)
			throws InterruptedException {
		int worker = awaitWriter(world, search, moments);
		if (worker > 0) {
			stopWorker(world, kind, worker, millis);
		}
		else {
			stopWorker(world, Window.noWriterFound(kind), world.anyWorker(), millis);
		}
	}

	private static void stopWriter(World world, String kind, Moment... moments) throws InterruptedException {
		stopWriter(world, kind, world.between(SHORT_LEASE_MILLIS + 1500, SHORT_LEASE_MILLIS + 3000), moments);
	}

	/**
	 * Look for a worker that is at a moment of its work.
	 * @return its number; zero if none is found
	 */
	static int awaitWriter(World world, Duration search, Moment... moments) throws InterruptedException {
		long end = System.nanoTime() + search.toNanos();
		int worker = 0;
		while (worker == 0 && System.nanoTime() < end) {
			world.sleep(1);
			worker = writer(world, moments);
		}
		return worker;
	}

	private static int writer(World world, Moment... moments) {
		for (int worker : world.fleet().numbers()) {
			for (Moment moment : moments) {
				if (world.stamps().isWriting(worker, moment)) {
					return worker;
				}
			}
		}
		return 0;
	}

	static void stopWorker(World world, String kind, int worker, long millis) throws InterruptedException {
		long begin = System.nanoTime();
		world.fleet().worker(worker).pause();
		try {
			world.sleep(millis);
		}
		finally {
			world.fleet().worker(worker).resume();
			world.log().add(kind, worker, begin);
		}
	}

	/**
	 * Pause workers several times, as a garbage collector may do.
	 */
	private static void pauseWorker(World world, String kind) throws InterruptedException {
		for (int i = 0; i < 5; i++) {
			stopWorker(world, kind, world.anyWorker(), world.between(100, 900));
			world.sleep(world.between(50, 400));
		}
	}

	private static Fault link(String kind, Disturbance disturbance) {
		return worker(kind, (world, name) -> {
			int worker = world.anyWorker();
			long begin = System.nanoTime();
			try {
				world.network().disturbWorker(worker, disturbance);
				world.sleep(world.between(2000, 6000));
			}
			finally {
				world.network().healWorker(worker);
				world.log().add(name, worker, begin);
			}
		});
	}

	/**
	 * Create a fault that makes some commands of a worker fail, on any member, since a
	 * stream continues to be read from a member that has stepped down. Clients are
	 * identified by their names, so that the commands of the members and of this process
	 * do not fail. A blocked command remains blocked after the fault has stopped blocking
	 * commands.
	 */
	static Fault commands(String kind, FailCommand failCommand, int times) {
		Duration blocked = Duration.ofMillis(failCommand.data().get("blockTimeMS", 0L));
		return worker(kind, (world, name) -> {
			Cluster cluster = world.cluster();
			int worker = world.anyWorker();
			cluster.awaitPrimary();
			List<Integer> members = IntStream.range(0, cluster.size())
				.filter((member) -> cluster.node(member).isRunning())
				.boxed()
				.toList();
			List<FailPoint> failPoints = members.stream()
				.map((member) -> new FailPoint("failCommand", cluster.node(member)))
				.toList();
			long begin = System.nanoTime();
			try {
				failPoints.forEach(FailPoint::reset);
				members.forEach((member) -> cluster.failCommand(member,
						failCommand.times(times).forApplication(Fleet.name(worker))));
				world.sleep(world.between(1500, 4000));
			}
			finally {
				try {
					insist(() -> failPoints.forEach(FailPoint::switchOff));
					insist(cluster::clearFailPoints);
				}
				finally {
					boolean failed = failPoints.stream().anyMatch(FailPoint::wasMet);
					world.log().add(failed ? name : Window.notDone(name), worker, begin, blocked);
				}
			}
		});
	}

	/**
	 * End a fault, with retries because a server may be slow to answer at that time.
	 */
	static void insist(Runnable end) {
		for (int tries = 1;; tries++) {
			try {
				end.run();
				return;
			}
			catch (MongoException ex) {
				if (tries == TRIES) {
					throw ex;
				}
			}
		}
	}

	/**
	 * Make the clock of a worker jump while it holds locks, and jump back.
	 */
	private static void moveClock(World world, String kind, int hours) throws InterruptedException {
		FakeTime clocks = world.requiredClocks();
		int worker = Fleet.WITH_CLOCK;
		long begin = System.nanoTime();
		clocks.set(Fleet.name(worker), Duration.ofHours(hours));
		world.sleep(world.between(3000, 5000));
		clocks.set(Fleet.name(worker), Duration.ZERO);
		world.sleep(1100);
		world.log().add(kind, worker, begin);
	}

}
