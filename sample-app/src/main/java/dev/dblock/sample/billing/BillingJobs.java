package dev.dblock.sample.billing;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenCrashed;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Three more jobs that show common difficulties: one ends before the other instances
 * request its lock, one fails now and then, and one is slow.
 */
@Component
class BillingJobs {

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
