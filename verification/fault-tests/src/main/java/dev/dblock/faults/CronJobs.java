package dev.dblock.faults;

import java.util.function.Function;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobPolicy.WhenMissed;
import dev.dblock.job.JobRun;

import org.springframework.beans.factory.BeanRegistrar;
import org.springframework.beans.factory.BeanRegistry;
import org.springframework.core.env.Environment;
import org.springframework.scheduling.annotation.Scheduled;

/**
 * Jobs with cron expressions, most of which run every second. Half of them repeat crashed
 * runs.
 */
final class CronJobs implements BeanRegistrar {

	static final String SKIPPED = "skip-";

	static final String REPEATED = "rerun-";

	/** Job whose planned times are further apart than the length of an outage. */
	static final String RARE = "rare";

	static final int RARE_SECONDS = 15;

	/** Job that is planned for each second, and takes longer. */
	static final String OVERRUN = "overrun";

	/** Jobs that are planned for each second, with this many shards. */
	static final String SHARDED = "sharded";

	static final int SHARDS = 8;

	/** Job whose id differs between two versions of the application. */
	static final String RENAMED = SKIPPED + "renamed";

	private static final String OTHER_ID = RENAMED + " in the second version";

	/** Job that runs the latest planned time at which no instance was running. */
	static final String CATCH_UP = SKIPPED + "catch-up";

	/** The same job, without catching up. */
	static final String NO_CATCH_UP = SKIPPED + "no-catch-up";

	/**
	 * Three planned times in a row, followed by a pause in which the instances can start
	 * and run what they missed.
	 */
	static final String IN_GROUPS = "0-2,30-32 * * * * *";

	static final int LEASE_SECONDS = 3;

	private static final String EACH_SECOND = "* * * * * *";

	private static final String NAME = "#{#root.target.name}";

	private static final long SHORT_MILLIS = 1;

	/** Long enough for faults to occur during a run. */
	private static final long LONG_MILLIS = 300;

	private static final long RARE_MILLIS = 2000;

	private static final long OVERRUN_MILLIS = 2300;

	@Override
	public void register(BeanRegistry registry, Environment environment) {
		int each = environment.getRequiredProperty("faults.jobs", Integer.class) / 2;
		for (int i = 1; i <= each; i++) {
			registerBoth(registry, Integer.toString(i), (i == 1) ? LONG_MILLIS : SHORT_MILLIS);
		}
		registerBoth(registry, OVERRUN, OVERRUN_MILLIS);
		if (environment.getRequiredProperty("faults.version", Integer.class) == 1) {
			register(registry, RENAMED, Skipped.class, (records) -> new Skipped(RENAMED, SHORT_MILLIS, records));
		}
		else {
			register(registry, RENAMED, Renamed.class, (records) -> new Renamed(RENAMED, SHORT_MILLIS, records));
		}
		register(registry, "rareJobs", Rare.class, Rare::new);
		register(registry, "shardedJobs", Sharded.class, Sharded::new);
		if (environment.getRequiredProperty("faults.sharded", Integer.class) > 2) {
			register(registry, "moreShardedJobs", MoreSharded.class, MoreSharded::new);
		}
		register(registry, "missedJobs", Missed.class, Missed::new);
	}

	private static void registerBoth(BeanRegistry registry, String name, long millis) {
		String skipped = SKIPPED + name;
		String repeated = REPEATED + name;
		register(registry, skipped, Skipped.class, (records) -> new Skipped(skipped, millis, records));
		register(registry, repeated, Repeated.class, (records) -> new Repeated(repeated, millis, records));
	}

	private static <T> void register(BeanRegistry registry, String name, Class<T> type,
			Function<JobRecords, T> constructor) {
		registry.registerBean(name, type,
				(job) -> job.supplier((context) -> constructor.apply(context.bean(JobRecords.class))));
	}

	/**
	 * Return the job with an id: the name of its lock.
	 */
	static String job(String id) {
		return id.equals(OTHER_ID) ? RENAMED : id;
	}

	/**
	 * Job with a lock of its own.
	 */
	abstract static class Named {

		private final String name;

		private final long millis;

		private final JobRecords records;

		Named(String name, long millis, JobRecords records) {
			this.name = name;
			this.millis = millis;
			this.records = records;
		}

		/**
		 * Return the name of the lock.
		 */
		public String getName() {
			return this.name;
		}

		void work() throws InterruptedException {
			this.records.work(this.name, this.millis);
		}

	}

	/**
	 * Job whose crashed runs are not repeated.
	 */
	static class Skipped extends Named {

		Skipped(String name, long millis, JobRecords records) {
			super(name, millis, records);
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = NAME, leaseSeconds = LEASE_SECONDS)
		void run() throws InterruptedException {
			work();
		}

	}

	/**
	 * The same job with another id.
	 */
	static class Renamed extends Named {

		Renamed(String name, long millis, JobRecords records) {
			super(name, millis, records);
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = NAME, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(id = OTHER_ID)
		void run() throws InterruptedException {
			work();
		}

	}

	/**
	 * Job whose crashed runs are repeated.
	 */
	static class Repeated extends Named {

		Repeated(String name, long millis, JobRecords records) {
			super(name, millis, records);
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = NAME, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(whenCrashed = WhenCrashed.RERUN)
		void run() throws InterruptedException {
			work();
		}

	}

	/**
	 * Jobs that run rarely.
	 */
	static class Rare {

		private final JobRecords records;

		Rare(JobRecords records) {
			this.records = records;
		}

		@Scheduled(cron = "*/" + RARE_SECONDS + " * * * * *")
		@DistributedLock(name = SKIPPED + RARE, leaseSeconds = LEASE_SECONDS)
		void skipped() throws InterruptedException {
			this.records.work(SKIPPED + RARE, RARE_MILLIS);
		}

		@Scheduled(cron = "*/" + RARE_SECONDS + " * * * * *")
		@DistributedLock(name = REPEATED + RARE, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(whenCrashed = WhenCrashed.RERUN)
		void repeated() throws InterruptedException {
			this.records.work(REPEATED + RARE, RARE_MILLIS);
		}

	}

	/**
	 * Jobs each of whose runs is a shard. Their locks need names without expressions.
	 */
	abstract static class Shards {

		private final JobRecords records;

		Shards(JobRecords records) {
			this.records = records;
		}

		void work() throws InterruptedException {
			this.records.work(JobRun.current().orElseThrow().jobId(), SHORT_MILLIS);
		}

	}

	/**
	 * Jobs whose planned times have shards.
	 */
	static class Sharded extends Shards {

		Sharded(JobRecords records) {
			super(records);
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = SKIPPED + SHARDED + 1, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(shards = SHARDS)
		void skipped1() throws InterruptedException {
			work();
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = REPEATED + SHARDED + 1, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(shards = SHARDS, whenCrashed = WhenCrashed.RERUN)
		void repeated1() throws InterruptedException {
			work();
		}

	}

	/**
	 * Eight more jobs whose planned times have shards.
	 */
	static class MoreSharded extends Shards {

		MoreSharded(JobRecords records) {
			super(records);
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = SKIPPED + SHARDED + 2, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(shards = SHARDS)
		void skipped2() throws InterruptedException {
			work();
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = REPEATED + SHARDED + 2, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(shards = SHARDS, whenCrashed = WhenCrashed.RERUN)
		void repeated2() throws InterruptedException {
			work();
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = SKIPPED + SHARDED + 3, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(shards = SHARDS)
		void skipped3() throws InterruptedException {
			work();
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = REPEATED + SHARDED + 3, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(shards = SHARDS, whenCrashed = WhenCrashed.RERUN)
		void repeated3() throws InterruptedException {
			work();
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = SKIPPED + SHARDED + 4, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(shards = SHARDS)
		void skipped4() throws InterruptedException {
			work();
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = REPEATED + SHARDED + 4, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(shards = SHARDS, whenCrashed = WhenCrashed.RERUN)
		void repeated4() throws InterruptedException {
			work();
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = SKIPPED + SHARDED + 5, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(shards = SHARDS)
		void skipped5() throws InterruptedException {
			work();
		}

		@Scheduled(cron = EACH_SECOND)
		@DistributedLock(name = REPEATED + SHARDED + 5, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(shards = SHARDS, whenCrashed = WhenCrashed.RERUN)
		void repeated5() throws InterruptedException {
			work();
		}

	}

	/**
	 * Jobs with planned times at which no instance is running.
	 */
	static class Missed {

		private final JobRecords records;

		Missed(JobRecords records) {
			this.records = records;
		}

		@Scheduled(cron = IN_GROUPS)
		@DistributedLock(name = CATCH_UP, leaseSeconds = LEASE_SECONDS)
		@JobPolicy(whenMissed = WhenMissed.RUN)
		void caughtUp() throws InterruptedException {
			this.records.work(CATCH_UP, SHORT_MILLIS);
		}

		@Scheduled(cron = IN_GROUPS)
		@DistributedLock(name = NO_CATCH_UP, leaseSeconds = LEASE_SECONDS)
		void skipped() throws InterruptedException {
			this.records.work(NO_CATCH_UP, SHORT_MILLIS);
		}

	}

}
