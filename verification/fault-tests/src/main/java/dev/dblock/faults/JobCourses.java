package dev.dblock.faults;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

import dev.dblock.faults.FaultRun.Course;
import dev.dblock.faults.JobEvent.What;
import dev.dblock.faults.Network.Disturbance;
import dev.dblock.testing.Cluster;

import org.springframework.scheduling.support.CronExpression;

/**
 * Courses of faults while jobs run.
 */
final class JobCourses {

	static final String KILLED = "worker killed";

	static final String ALL_DOWN = "all workers down";

	private static final String STOPPED = "worker stopped";

	private static final Duration SEARCH = Duration.ofSeconds(2);

	private static final int OUTAGE_MILLIS = 10_000;

	/** How far a clock is set ahead or behind at most. */
	private static final long[] STEPS_MILLIS = { 500, 5000, 600_000 };

	/** Number of planned times that come while no instance is running. */
	private static final int MISSED = 3;

	/**
	 * A request that was granted when the last worker died is for a planned time before
	 * the end of this margin.
	 */
	private static final Duration GRANTED_EARLY = Duration.ofSeconds(1);

	/** More than the offset of any server's clock. */
	private static final Duration AFTER_MISSED = Duration.ofMillis(300);

	private static final Duration RUN_SEARCH = Duration.ofSeconds(30);

	/**
	 * Minimum and maximum time for which a run of a periodic job has been over when its
	 * worker is killed.
	 */
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

	static Course downtimes(long seconds) {
		return repeat(seconds, 6000, (world, count) -> allDown(world));
	}

	/**
	 * Set the clock of a worker every few seconds.
	 */
	static Course clockSteps(long seconds) {
		return repeat(seconds, 2000, (world, count) -> {
			FakeTime clocks = world.requiredClocks();
			long most = STEPS_MILLIS[count % STEPS_MILLIS.length];
			long ahead = world.random().nextLong(-most, most + 1);
			// The first worker has the true clock
			int worker = 2 + world.random().nextInt(world.fleet().numbers().size() - 1);
			clocks.set(Fleet.name(worker), Duration.ofMillis(ahead));
		});
	}

	/**
	 * Pause jobs, one after the other.
	 */
	static Course pauses(long seconds) {
		return repeat(seconds, 1000, (world, count) -> pauseJob(world, count));
	}

	/**
	 * Cause each fault once, in about a minute.
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
			pauseJob(world, 0);
			allDown(world);
		};
	}

	/**
	 * Kill the worker that ran last every twenty seconds, between two runs.
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

	private static void pauseJob(World world, int count) throws InterruptedException, IOException {
		Path folder = world.fleet().folder();
		long before = count(JobRecords.read(folder), What.PAUSED);
		JobPauses.request(folder, ((count % 2 == 0) ? CronJobs.SKIPPED : CronJobs.REPEATED) + (1 + count % 5));
		await(world, What.PAUSED, before + 1);
		world.sleep(world.between(500, 5000));
		JobPauses.request(folder, "");
		await(world, What.RESUMED, before + 1);
	}

	private static void await(World world, What what, long times) throws InterruptedException, IOException {
		JobRecords.await(world.fleet().folder(), (events) -> count(events, what) >= times,
				() -> "a job was not " + what);
	}

	private static long count(List<JobEvent> events, What what) {
		return events.stream().filter((event) -> event.what() == what).count();
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

	/**
	 * Kill all workers at once, and start them again after three planned times.
	 */
	private static void allDown(World world) throws InterruptedException, IOException {
		awaitRun(world, Long.MIN_VALUE);
		List<Integer> workers = world.fleet().numbers();
		workers.forEach(world.fleet()::kill);
		long begin = System.nanoTime();
		try {
			ZonedDateTime from = ZonedDateTime.now(ZoneOffset.UTC).plus(GRANTED_EARLY);
			ZonedDateTime last = from;
			for (int i = 0; i < MISSED; i++) {
				last = Objects.requireNonNull(CronExpression.parse(CronJobs.IN_GROUPS).next(last));
			}
			world.sleep(Duration.between(ZonedDateTime.now(ZoneOffset.UTC), last.plus(AFTER_MISSED)).toMillis());
			workers.forEach(world.fleet()::start);
			world.fleet().awaitWorking();
		}
		finally {
			world.log().add(ALL_DOWN, 0, begin);
		}
		awaitRun(world, begin);
	}

	private static void awaitRun(World world, long after) throws InterruptedException, IOException {
		long end = System.nanoTime() + RUN_SEARCH.toNanos();
		while (System.nanoTime() < end && JobRecords.read(world.fleet().folder())
			.stream()
			.noneMatch((event) -> event.job().equals(CronJobs.CATCH_UP) && event.nanos() > after)) {
			world.sleep(200);
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
	 * Repeated step of a course.
	 */
	private interface Step {

		void happen(World world, int count) throws Exception;

	}

}
