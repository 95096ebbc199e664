package dev.dblock.faults;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenCrashed;

import org.springframework.scheduling.annotation.Scheduled;

/**
 * Jobs whose schedule or time zone differs between two versions of an application.
 */
class VersionedJobs {

	static final String PROFILE = "versions";

	/** Job that both versions plan for each second. */
	static final String MOVED = "moved";

	private static final String REPLANNED = "replanned";

	private final JobRecords records;

	VersionedJobs(JobRecords records) {
		this.records = records;
	}

	@Scheduled(cron = "${faults.cron}")
	@DistributedLock(name = CronJobs.SKIPPED + REPLANNED, leaseSeconds = CronJobs.LEASE_SECONDS)
	void skippedAndReplanned() throws InterruptedException {
		this.records.work(CronJobs.SKIPPED + REPLANNED, 1);
	}

	@Scheduled(cron = "${faults.cron}")
	@DistributedLock(name = CronJobs.REPEATED + REPLANNED, leaseSeconds = CronJobs.LEASE_SECONDS)
	@JobPolicy(whenCrashed = WhenCrashed.RERUN)
	void repeatedAndReplanned() throws InterruptedException {
		this.records.work(CronJobs.REPEATED + REPLANNED, 300);
	}

	@Scheduled(cron = "* * * * * *", zone = "${faults.zone}")
	@DistributedLock(name = CronJobs.SKIPPED + MOVED, leaseSeconds = CronJobs.LEASE_SECONDS)
	void skippedAndMoved() throws InterruptedException {
		this.records.work(CronJobs.SKIPPED + MOVED, 1);
	}

	@Scheduled(cron = "* * * * * *", zone = "${faults.zone}")
	@DistributedLock(name = CronJobs.REPEATED + MOVED, leaseSeconds = CronJobs.LEASE_SECONDS)
	@JobPolicy(whenCrashed = WhenCrashed.RERUN)
	void repeatedAndMoved() throws InterruptedException {
		this.records.work(CronJobs.REPEATED + MOVED, 300);
	}

}
