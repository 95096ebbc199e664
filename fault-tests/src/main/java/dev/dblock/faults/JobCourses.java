package dev.dblock.faults;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import dev.dblock.faults.FaultRun.Course;
import dev.dblock.faults.JobEvent.What;
import dev.dblock.faults.Network.Disturbance;
import dev.dblock.testing.Cluster;

/**
 * What happens while jobs run.
 */
final class JobCourses {

	static final String KILLED = "worker killed";

	private static final String STOPPED = "worker stopped";

	private static final Duration SEARCH = Duration.ofSeconds(2);

	private static final int OUTAGE_MILLIS = 10_000;

	/** A run of a periodic job is over for so long when its worker is killed. */
	private static final int LEAST_IDLE_MILLIS = 200;

	private static final int MOST_IDLE_MILLIS = 1500;

	private JobCourses() {
	}

	static Course quiet(long seconds) {
		return (world) -> world.sleep(seconds * 1000);
	}

	static Course kills(long seconds) {
		return repeat(seconds, 2000, (world, count) -> killRunner(world));
	}

	static Course stops(long seconds) {
		return repeat(seconds, 2000, (world, count) -> stopRunner(world, world.between(500, 7000)));
	}

	static Course elections(long seconds) {
		return repeat(seconds, 6000, (world, count) -> {
			switch (count % 3) {
				case 0 -> ServerFaults.killPrimary(world, "primary killed");
				case 1 -> ServerFaults.stepDown(world, "primary stepped down");
				default -> ServerFaults.freezePrimary(world, "primary frozen");
			}
		});
	}

	static Course outages(long seconds) {
		return repeat(seconds, 15_000, (world, count) -> {
			switch (count % 3) {
				case 0 -> serversAway(world);
				case 1 -> cut(world, "answers swallowed", Disturbance.swallowAnswers());
				default -> cut(world, "requests swallowed", Disturbance.swallowRequests());
			}
		});
	}

	/**
	 * Each once, in about half a minute.
	 */
	static Course eachOnce() {
		return (world) -> {
			world.sleep(8000);
			killRunner(world);
			stopRunner(world, 5000);
			ServerFaults.stepDown(world, "primary stepped down");
			world.sleep(2000);
			serversAway(world);
			world.sleep(5000);
		};
	}

	/**
	 * Each twenty seconds the worker that ran last is killed, between two runs.
	 */
	static Course killsOfLast(long seconds) {
		return repeat(seconds, 20_000,
				(world, count) -> killLast(world, (count % 2 == 0) ? PeriodicJobs.RATE : PeriodicJobs.DELAY));
	}

	private static Course repeat(long seconds, int pauseMillis, Step step) {
		return (world) -> {
			long end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
			world.sleep(5000);
			for (int count = 0; System.nanoTime() < end; count++) {
				step.happen(world, count);
				world.sleep(world.between(pauseMillis, pauseMillis * 3 / 2));
			}
		};
	}

	private static void killRunner(World world) throws InterruptedException {
		int worker = Faults.awaitWriter(world, SEARCH, Moment.RUN);
		Faults.killWorker(world, KILLED, (worker > 0) ? worker : world.anyWorker());
	}

	private static void stopRunner(World world, long millis) throws InterruptedException {
		Faults.stopWriter(world, STOPPED, SEARCH, millis, Moment.RUN);
	}

	private static void serversAway(World world) throws InterruptedException {
		Cluster cluster = world.cluster();
		List<Integer> members = IntStream.range(0, cluster.size()).boxed().toList();
		long begin = System.nanoTime();
		members.forEach((member) -> cluster.node(member).pause());
		try {
			world.sleep(OUTAGE_MILLIS);
		}
		finally {
			members.forEach((member) -> cluster.node(member).resume());
			cluster.awaitSettled();
			world.log().add("servers away", 0, begin);
		}
	}

	private static void cut(World world, String kind, Disturbance disturbance) throws InterruptedException {
		long begin = System.nanoTime();
		world.fleet().numbers().forEach((worker) -> world.network().disturbWorker(worker, disturbance));
		try {
			world.sleep(OUTAGE_MILLIS);
		}
		finally {
			world.fleet().numbers().forEach(world.network()::healWorker);
			world.log().add(kind, 0, begin);
		}
	}

	private static void killLast(World world, String job) throws InterruptedException, IOException {
		while (true) {
			List<JobEvent> events = JobRecords.read(world.fleet().folder())
				.stream()
				.filter((event) -> event.job().equals(job))
				.toList();
			JobEvent last = events.get(events.size() - 1);
			long idle = Duration.ofNanos(System.nanoTime() - last.nanos()).toMillis();
			if (last.what() == What.RELEASED && idle > LEAST_IDLE_MILLIS && idle < MOST_IDLE_MILLIS) {
				Faults.killWorker(world, KILLED, last.worker());
				return;
			}
			world.sleep(LEAST_IDLE_MILLIS);
		}
	}

	/**
	 * Something that happens again and again.
	 */
	private interface Step {

		void happen(World world, int count) throws Exception;

	}

}
