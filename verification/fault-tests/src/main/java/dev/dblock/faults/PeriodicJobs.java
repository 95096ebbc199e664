package dev.dblock.faults;

import java.time.Duration;

import dev.dblock.DistributedLock;

import org.springframework.scheduling.annotation.Scheduled;

/**
 * One job with a fixed rate and one with a fixed delay. Each instance begins with a
 * different phase.
 */
class PeriodicJobs {

	static final String RATE = "rate";

	static final String DELAY = "delay";

	static final Duration PERIOD = Duration.ofSeconds(2);

	private static final long PERIOD_MILLIS = 2000;

	private static final String PHASE = "${faults.phase}";

	private final JobRecords records;

	PeriodicJobs(JobRecords records) {
		this.records = records;
	}

	@Scheduled(fixedRate = PERIOD_MILLIS, initialDelayString = PHASE)
	@DistributedLock(name = RATE, leaseSeconds = CronJobs.LEASE_SECONDS)
	void byRate() throws InterruptedException {
		this.records.work(RATE, 1);
	}

	@Scheduled(fixedDelay = PERIOD_MILLIS, initialDelayString = PHASE)
	@DistributedLock(name = DELAY, leaseSeconds = CronJobs.LEASE_SECONDS)
	void byDelay() throws InterruptedException {
		this.records.work(DELAY, 1);
	}

}
