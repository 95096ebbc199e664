package dev.dblock.sample.billing;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobRun;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Four more jobs that show common difficulties: one ends before the other instances
 * request its lock, one fails now and then, one is slow, and one is divided among the
 * instances.
 */
@Component
class BillingJobs {

	private static final Logger logger = LoggerFactory.getLogger(BillingJobs.class);

	private final Duration work;

	private final double failures;

	BillingJobs(@Value("${sample.statements.work}") Duration work,
			@Value("${sample.payments.failures}") double failures) {
		this.work = work;
		this.failures = failures;
	}

	/**
	 * Send reminders. Takes less than a millisecond, and still runs on one instance only.
	 */
	@Scheduled(cron = "*/${sample.reminders.every-seconds} * * * * *")
	@DistributedLock(name = "reminders")
	void remind() {
		// There are no reminders to send: this is the shortest possible job
	}

	@Scheduled(fixedRateString = "${sample.payments.every}")
	@DistributedLock(name = "payments")
	void collect() {
		if (ThreadLocalRandom.current().nextDouble() < this.failures) {
			throw new IllegalStateException("The bank does not answer");
		}
	}

	/**
	 * Make the archive, of which each instance takes the next part that is free.
	 */
	@Scheduled(cron = "*/${sample.archive.every-seconds} * * * * *")
	@DistributedLock(name = "archive")
	@JobPolicy(shards = 6, whenCrashed = WhenCrashed.RERUN)
	void archive() throws InterruptedException {
		JobRun part = JobRun.current().orElseThrow();
		logger.info("Archives part {} of {}", part.shard(), part.shards());
		Thread.sleep(this.work.dividedBy(part.shards()).toMillis());
	}

	/**
	 * Make the statements. Takes long enough to be killed, and can be repeated without
	 * harm.
	 */
	@Scheduled(cron = "*/${sample.statements.every-seconds} * * * * *")
	@DistributedLock(name = "statements")
	@JobPolicy(whenCrashed = WhenCrashed.RERUN)
	void make() throws InterruptedException {
		Thread.sleep(this.work.toMillis());
	}

}
