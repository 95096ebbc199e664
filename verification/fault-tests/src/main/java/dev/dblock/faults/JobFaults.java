package dev.dblock.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.mongodb.client.MongoClient;
import com.mongodb.client.MongoClients;
import dev.dblock.faults.Fleet.Program;
import dev.dblock.faults.JobEvent.What;
import dev.dblock.testing.Cluster;

/**
 * Runs scheduled jobs on several instances whose clocks differ, while faults occur. Each
 * round has its own workers and its own database, on the same servers.
 */
final class JobFaults {

	private static final long ROUND_SECONDS = 100;

	private static final long PERIODIC_SECONDS = 300;

	private static final long SHEDLOCK_SECONDS = 60;

	private static final int PERIODIC_WORKERS = 3;

	/** From the first run of each job to the first planned time that is judged. */
	private static final long WARM_UP_MILLIS = 2500;

	private final Path mongod;

	private final Path toxiproxy;

	private final Path folder;

	private final Options options;

	private final Random random;

	private final int jobs;

	private final int sharded;

	JobFaults(Path mongod, Path toxiproxy, Path folder, Options options) {
		this.mongod = mongod;
		this.toxiproxy = toxiproxy;
		this.folder = folder;
		this.options = options;
		long seed = options.number("seed", System.nanoTime() & 0xFFFF_FFFFL);
		System.out.println("seed " + seed);
		this.random = new Random(seed);
		this.jobs = (int) options.number("jobs", 20);
		this.sharded = (int) options.number("sharded", 2);
		if (this.sharded != 2 && this.sharded != 10) {
			throw new IllegalArgumentException("--sharded is 2 or 10");
		}
	}

	private List<JobRound> rounds() {
		long duration = this.options.number("duration", -1);
		if (duration == 0) {
			return List.of(new JobRound("each fault once", "cron", JobRound.MIXED, JobCourses.eachOnce()));
		}
		long seconds = (duration > 0) ? duration : ROUND_SECONDS;
		long periodic = (duration > 0) ? duration : PERIODIC_SECONDS;
		long shedlock = (duration > 0) ? duration : SHEDLOCK_SECONDS;
		return Stream
			.of(new JobRound("clocks 350 ms apart", "cron", JobRound.CLOSE, JobCourses.quiet(seconds)),
					new JobRound("clocks ten minutes apart", "cron", JobRound.APART, JobCourses.quiet(seconds)),
					new JobRound("kills", "cron", JobRound.CLOSE, JobCourses.kills(seconds)),
					new JobRound("pauses", "cron", JobRound.APART, JobCourses.stops(seconds)),
					new JobRound("elections", "cron", JobRound.CLOSE, JobCourses.elections(seconds)),
					new JobRound("outages", "cron", JobRound.APART, JobCourses.outages(seconds)),
					new JobRound("downtimes", "cron", JobRound.CLOSE, JobCourses.downtimes(seconds)),
					new JobRound("clock steps", "cron", JobRound.APART, JobCourses.clockSteps(seconds)),
					new JobRound("paused jobs", "cron", JobRound.CLOSE, JobCourses.pauses(seconds)),
					new JobRound("rolling updates", VersionedJobs.PROFILE, JobRound.CLOSE, JobCourses.kills(seconds)),
					new JobRound("periods", "periodic", JobRound.CLOSE.subList(0, PERIODIC_WORKERS),
							JobCourses.killsOfLast(periodic)),
					new JobRound("shedlock", "shedlock", JobRound.CLOSE, JobCourses.quiet(shedlock)))
			.filter((round) -> round.name().contains(this.options.text("only", "")))
			.toList();
	}

	/**
	 * Run all rounds.
	 * @return whether no rule was broken
	 */
	boolean run() throws Exception {
		return run(rounds());
	}

	/**
	 * Run some rounds.
	 * @param rounds the rounds
	 * @return whether no rule was broken
	 */
	boolean run(List<JobRound> rounds) throws Exception {
		FakeTime clocks = FakeTime.find(this.folder).orElse(null);
		if (clocks == null) {
			System.out.println("LEFT OUT: all clocks are equal, because " + FakeTime.NOT_FOUND);
		}
		boolean passed = true;
		int workers = rounds.stream().mapToInt(JobRound::workers).max().orElse(0);
		try (Cluster cluster = Cluster.startWithLinks(FaultRun.binaries(this.mongod, clocks));
				Network network = Network.start(this.toxiproxy, this.folder, cluster, workers);
				MongoClient client = MongoClients.create(cluster.uri())) {
			for (JobRound round : rounds) {
				Path records = Files.createDirectories(records(round));
				passed &= judge(round, record(round, records, cluster, network, client));
			}
		}
		return passed;
	}

	/**
	 * Return the folder of the records of a round.
	 */
	Path records(JobRound round) {
		return this.folder.resolve(round.name().replace(' ', '-'));
	}

	private JobHistory record(JobRound round, Path records, Cluster cluster, Network network, MongoClient client)
			throws Exception {
		String database = "jobs-" + round.name().replace(' ', '-');
		FakeTime clocks = FakeTime.find(records).orElse(null);
		for (int i = 0; clocks != null && i < round.workers(); i++) {
			clocks.set(Fleet.name(i + 1), round.clocks().get(i));
		}
		Program program = new Program(JobWorker.class,
				(worker) -> clocks != null && !round.clocks().get(worker - 1).isZero(),
				(life) -> JobRecords.haveBegun(records, life.worker(), life.life()));
		List<String> properties = List.of("--spring.profiles.active=" + round.profile(), "--faults.jobs=" + this.jobs,
				"--faults.sharded=" + this.sharded, "--faults.database=" + database,
				"--spring.task.scheduling.pool.size=8");
		Stamps stamps = new Stamps(records);
		try (Fleet fleet = new Fleet(records, cluster.uri().replace("/?", "/" + database + "?"), 0, clocks,
				System.getProperty("java.class.path"), properties, program)) {
			World world = new World(cluster, client.getDatabase(database), fleet, network, clocks, stamps, this.random,
					new FaultLog());
			try (RunRecordWatch watch = new RunRecordWatch(cluster.uri(), database);
					PrimaryProbe probe = new PrimaryProbe(cluster.uri(), database, world.log());
					Standstills standstills = Standstills.watch(world.log())) {
				IntStream.rangeClosed(1, round.workers()).forEach(fleet::start);
				fleet.awaitWorking();
				awaitFirstRuns(records, jobs(round.profile()));
				world.sleep(WARM_UP_MILLIS);
				long from = System.nanoTime();
				round.course().run(world);
				Faults.insist(cluster::heal);
				long to = System.nanoTime();
				world.sleep(JobJudge.TAKEN_AFTER_CRASH.plusSeconds(2).toMillis());
				Faults.insist(watch::read);
				List<String> stuck = fleet.stop(stamps);
				long epochNanos = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
				return new JobHistory(JobRecords.readWithLogs(records, fleet.numbers()), watch.runs(),
						world.log().windows(), stuck, jobs(round.profile()), new Span(from, to), epochNanos);
			}
		}
	}

	/**
	 * Wait until each job has run, which takes seconds on a busy machine. No planned time
	 * is computed before the first answer of the servers.
	 */
	private static void awaitFirstRuns(Path records, JobHistory.Jobs jobs) throws InterruptedException, IOException {
		Set<String> missing = jobs.eachSecond().collect(Collectors.toSet());
		JobRecords.await(records, (events) -> {
			events.stream().filter((event) -> event.what() == What.BEGUN).map(JobEvent::job).forEach(missing::remove);
			return missing.isEmpty();
		}, () -> "as the logs of the workers say, " + missing + " did not run");
	}

	private JobHistory.Jobs jobs(String profile) {
		if (profile.equals(VersionedJobs.PROFILE)) {
			return new JobHistory.Jobs(both(VersionedJobs.MOVED), List.of(), List.of(), List.of(), false);
		}
		if (!profile.equals("cron")) {
			return JobHistory.Jobs.none();
		}
		List<String> each = Stream.concat(numbered("", this.jobs), Stream.of(CronJobs.RENAMED)).toList();
		List<String> sharded = numbered(CronJobs.SHARDED, this.sharded).toList();
		return new JobHistory.Jobs(each, both(CronJobs.OVERRUN), both(CronJobs.RARE), sharded, true);
	}

	private static Stream<String> numbered(String name, int jobs) {
		return IntStream.rangeClosed(1, jobs / 2).boxed().flatMap((number) -> both(name + number).stream());
	}

	private static List<String> both(String name) {
		return List.of(CronJobs.SKIPPED + name, CronJobs.REPEATED + name);
	}

	private boolean judge(JobRound round, JobHistory history) {
		System.out.println();
		System.out.println(round.name());
		history.windows()
			.stream()
			.collect(Collectors.groupingBy(Window::kind, Collectors.counting()))
			.forEach((kind, count) -> System.out.printf(Locale.ROOT, "        %s: %d times%n", kind, count));
		return switch (round.profile()) {
			case "cron", VersionedJobs.PROFILE -> {
				JobJudge judge = new JobJudge(history);
				System.out.println("        " + judge.figures());
				yield print(judge.findings());
			}
			case "periodic" -> {
				PeriodJudge judge = new PeriodJudge(history);
				System.out.println(judge.figures().indent(8).stripTrailing());
				yield print(judge.findings());
			}
			default -> {
				System.out.println("        " + runsOf(history));
				yield true;
			}
		};
	}

	private static boolean print(List<Finding> findings) {
		findings.forEach((finding) -> finding.print(System.out));
		return findings.stream().allMatch(Finding::passed);
	}

	/**
	 * Describe on how many instances each second was run.
	 */
	private static String runsOf(JobHistory history) {
		long from = history.millisOf(history.judged().from()) + 1000;
		long to = history.millisOf(history.judged().to()) - 1000;
		Map<String, Long> runs = history.events()
			.stream()
			.filter((event) -> event.what() == What.BEGUN && event.planned() >= from && event.planned() < to)
			.collect(Collectors.groupingBy((event) -> event.job() + event.planned(), Collectors.counting()));
		return "%,d planned times were run %,d times, %,d of them twice or more".formatted(runs.size(),
				runs.values().stream().mapToLong(Long::longValue).sum(),
				runs.values().stream().filter((count) -> count > 1).count());
	}

}
