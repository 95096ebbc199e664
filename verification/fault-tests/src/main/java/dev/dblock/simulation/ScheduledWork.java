package dev.dblock.simulation;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.stream.IntStream;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.annotation.EnableDistributedLocks;
import dev.dblock.core.DefaultLockEngine;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobPolicy.WhenMissed;
import dev.dblock.job.JobRun;
import dev.dblock.job.JobShards;
import dev.dblock.job.ShardNames;
import dev.dblock.job.event.JobListener;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/**
 * A scheduled job of one instance. Its id is the name of its lock. Each job is a bean of
 * its own, since the JVM does not define the order of a class's methods.
 */
abstract class ScheduledWork {

	static final String AT_RATE = "rate";

	private static final String SKIPPED = "skipped";

	/** The id of that job in another version of the application. */
	private static final String RENAMED = "skipped in another version";

	private static final String AFTER_DELAY = "delay";

	/** The job with shards. Each of them has a record of its own. */
	static final String SHARDED = "sharded";

	private static final int SHARDS = 4;

	/** In another version of the application. */
	private static final int FEWER_SHARDS = 3;

	private static final Duration SHARDED_PERIOD = Duration.ofSeconds(10);

	private static final String EACH_PERIOD = "*/2 * * * * *";

	private static final int PERIOD_MILLIS = 2000;

	static final Duration PERIOD = Duration.ofMillis(PERIOD_MILLIS);

	private static final int LEASE = 3;

	private static final int SHORTLY_NANOS = 300_000_000;

	private final World world;

	private final Instance instance;

	private final Random random;

	ScheduledWork(World world, Instance instance) {
		this.world = world;
		this.instance = instance;
		this.random = world.scheduler().random();
	}

	/**
	 * Return after which time each job must have run again if nothing is disturbed.
	 */
	static Map<String, Duration> longestPauses() {
		Map<String, Duration> pauses = new TreeMap<>();
		pauses.put(SKIPPED, PERIOD.plusMillis(1500));
		pauses.put("repeated", PERIOD.plusMillis(1500));
		pauses.put(AT_RATE, PERIOD.plusMillis(1500));
		pauses.put(AFTER_DELAY, PERIOD.plusMillis(2500));
		pauses.put("long", Duration.ofSeconds(8));
		pauses.put("rare", Duration.ofSeconds(17));
		IntStream.rangeClosed(1, FEWER_SHARDS)
			.forEach((shard) -> pauses.put(ShardNames.of(SHARDED, shard), Duration.ofSeconds(14)));
		return pauses;
	}

	/**
	 * Return the jobs that are planned for each period.
	 */
	static List<String> ofEachPeriod() {
		return List.of(SKIPPED, "repeated", "long");
	}

	/**
	 * Return the shards, each of which is a job for the store.
	 */
	static List<String> shards() {
		return IntStream.rangeClosed(1, SHARDS).mapToObj((shard) -> ShardNames.of(SHARDED, shard)).toList();
	}

	/**
	 * Whether this is a shard that some planned times do not have. One that crashed is
	 * not repeated then.
	 */
	static boolean isSurplus(String id) {
		return ShardNames.numberOf(id) > FEWER_SHARDS;
	}

	static Duration period(String id) {
		return ShardNames.jobOf(id).equals(SHARDED) ? SHARDED_PERIOD : PERIOD;
	}

	/**
	 * Return the job with an id: the name of its lock.
	 */
	static String job(String id) {
		return id.equals(RENAMED) ? SKIPPED : id;
	}

	/**
	 * Whether the planned times of a job follow from its runs.
	 */
	static boolean isPeriodic(String job) {
		return job.equals(AT_RATE) || job.equals(AFTER_DELAY);
	}

	/**
	 * Create the application context of an instance, which schedules its jobs.
	 */
	static ConfigurableApplicationContext start(World world, Instance instance) {
		AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
		context.registerBean(DefaultLockEngine.class, instance::engine);
		context.registerBean(ThreadPoolTaskScheduler.class, () -> scheduler(world));
		if (world.hasVersions()) {
			context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("simulation", Map.of("spring.application.name", "simulation")));
		}
		if (world.hasVersions() && world.scheduler().random().nextBoolean()) {
			context.registerBean(SKIPPED, Renamed.class, () -> new Renamed(world, instance));
		}
		else {
			context.registerBean(SKIPPED, Skipped.class, () -> new Skipped(world, instance));
		}
		context.registerBean(Repeated.class, () -> new Repeated(world, instance));
		context.registerBean(AtRate.class, () -> new AtRate(world, instance));
		context.registerBean(AfterDelay.class, () -> new AfterDelay(world, instance));
		context.registerBean(Lasting.class, () -> new Lasting(world, instance));
		context.registerBean(Rare.class, () -> new Rare(world, instance));
		if (world.hasVersions() && world.scheduler().random().nextBoolean()) {
			context.registerBean(SHARDED, FewerShards.class, () -> new FewerShards(world, instance));
		}
		else {
			context.registerBean(SHARDED, Sharded.class, () -> new Sharded(world, instance));
		}
		context.register(Application.class);
		context.refresh();
		return context;
	}

	private static ThreadPoolTaskScheduler scheduler(World world) {
		Random random = world.scheduler().random();
		ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();
		scheduler.setPoolSize(4 + random.nextInt(4));
		scheduler.setWaitForTasksToCompleteOnShutdown(random.nextBoolean());
		scheduler.setAwaitTerminationSeconds(random.nextInt(6));
		scheduler.setErrorHandler((ex) -> {
			if (!Work.isExpected(ex) && !isSurplus(ex)) {
				world.journal().violation("a job failed with " + ex, world.scheduler().requireCurrent());
			}
		});
		return scheduler;
	}

	/**
	 * Whether a shard was requested that its planned time does not have: its settlement
	 * had crashed.
	 */
	private static boolean isSurplus(Throwable thrown) {
		return thrown instanceof IllegalStateException
				&& String.valueOf(thrown.getMessage()).contains(" has no shard ");
	}

	/**
	 * Count the reports of planned times that were not run, and of crashed runs.
	 */
	static JobListener counting(World world) {
		Journal journal = world.journal();
		return new JobListener() {

			@Override
			public void onMissed(String name, String jobId, Instant plannedAt) {
				journal.count("reported as missed: " + job(jobId));
				world.plannedTimes().missed(jobId, plannedAt);
			}

			@Override
			public void onShardsOver(String name, String jobId, JobShards shards) {
				journal.count("reported as over" + (shards.isSuccess() ? "" : ", with failures"));
				world.plannedTimes().over(jobId, shards.plannedAt());
			}

			@Override
			public void onRunCrashed(String name, JobRun run) {
				journal.count("reported as crashed");
			}

		};
	}

	final void work(long mostNanos, boolean rerun) {
		JobRun granted = JobRun.current().orElseThrow();
		this.world.beginSection();
		LockHandle handle = LockContext.current().orElseThrow();
		PlannedTimes.Run run = this.world.plannedTimes().begun(this.instance, granted, rerun, handle.isHeld());
		ObservedLock lock = this.world.judge().working(this.instance, handle);
		for (int i = 0; i < 5; i++) {
			this.world.scheduler().pause(this.random.nextLong(mostNanos / 5));
			this.world.judge().isHeld(lock);
		}
		run.done();
		if (this.random.nextInt(10) == 0) {
			throw new Work.ExpectedFailure();
		}
	}

	/**
	 * Job whose crashed runs are skipped.
	 */
	static class Skipped extends ScheduledWork {

		Skipped(World world, Instance instance) {
			super(world, instance);
		}

		@Scheduled(cron = EACH_PERIOD)
		@DistributedLock(name = SKIPPED, leaseSeconds = LEASE)
		@JobPolicy(startWithinSeconds = 3)
		void run() {
			work(SHORTLY_NANOS, false);
		}

	}

	/**
	 * The same job in another version of the application, with another id.
	 */
	static class Renamed extends ScheduledWork {

		Renamed(World world, Instance instance) {
			super(world, instance);
		}

		@Scheduled(cron = EACH_PERIOD)
		@DistributedLock(name = SKIPPED, leaseSeconds = LEASE)
		@JobPolicy(id = RENAMED, startWithinSeconds = 3)
		void run() {
			work(SHORTLY_NANOS, false);
		}

	}

	/**
	 * Job whose crashed runs are repeated.
	 */
	static class Repeated extends ScheduledWork {

		Repeated(World world, Instance instance) {
			super(world, instance);
		}

		@Scheduled(cron = EACH_PERIOD)
		@DistributedLock(name = "repeated", leaseSeconds = LEASE)
		@JobPolicy(whenCrashed = WhenCrashed.RERUN)
		void run() {
			work(SHORTLY_NANOS, true);
		}

	}

	/**
	 * Job with a fixed rate.
	 */
	static class AtRate extends ScheduledWork {

		AtRate(World world, Instance instance) {
			super(world, instance);
		}

		@Scheduled(fixedRate = PERIOD_MILLIS)
		@DistributedLock(name = AT_RATE, leaseSeconds = LEASE)
		void run() {
			work(SHORTLY_NANOS, false);
		}

	}

	/**
	 * Job with a fixed delay.
	 */
	static class AfterDelay extends ScheduledWork {

		AfterDelay(World world, Instance instance) {
			super(world, instance);
		}

		@Scheduled(fixedDelay = PERIOD_MILLIS)
		@DistributedLock(name = AFTER_DELAY, leaseSeconds = LEASE)
		@JobPolicy(whenCrashed = WhenCrashed.RERUN)
		void run() {
			work(1_000_000_000, true);
		}

	}

	/**
	 * Job that often takes longer than a period, and than a lease.
	 */
	static class Lasting extends ScheduledWork {

		Lasting(World world, Instance instance) {
			super(world, instance);
		}

		@Scheduled(cron = EACH_PERIOD)
		@DistributedLock(name = "long", leaseSeconds = LEASE)
		@JobPolicy(whenCrashed = WhenCrashed.RERUN)
		void run() {
			work(2L * Integer.MAX_VALUE, true);
		}

	}

	/**
	 * Job that makes up for what was missed while no instance was running.
	 */
	static class Rare extends ScheduledWork {

		Rare(World world, Instance instance) {
			super(world, instance);
		}

		@Scheduled(cron = "*/15 * * * * *")
		@DistributedLock(name = "rare", leaseSeconds = LEASE)
		@JobPolicy(whenCrashed = WhenCrashed.RERUN, whenMissed = WhenMissed.RUN)
		void run() {
			work(1_000_000_000, true);
		}

	}

	/**
	 * Job whose shards the instances share.
	 */
	static class Sharded extends ScheduledWork {

		Sharded(World world, Instance instance) {
			super(world, instance);
		}

		@Scheduled(cron = "*/10 * * * * *")
		@DistributedLock(name = SHARDED, leaseSeconds = LEASE)
		@JobPolicy(whenCrashed = WhenCrashed.RERUN, shards = SHARDS, concurrency = 2)
		void run() {
			work(1_000_000_000, true);
		}

	}

	/**
	 * The same job in another version of the application, with fewer shards.
	 */
	static class FewerShards extends ScheduledWork {

		FewerShards(World world, Instance instance) {
			super(world, instance);
		}

		@Scheduled(cron = "*/10 * * * * *")
		@DistributedLock(name = SHARDED, leaseSeconds = LEASE)
		@JobPolicy(whenCrashed = WhenCrashed.RERUN, shards = FEWER_SHARDS)
		void run() {
			work(1_000_000_000, true);
		}

	}

	/**
	 * Configuration of each instance.
	 */
	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	@EnableDistributedLocks
	static class Application {

	}

}
