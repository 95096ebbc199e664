package dev.dblock.sample.billing;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

import dev.dblock.DistributedLock;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.WhenCrashed;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Three more jobs, with what makes jobs hard: one is over before the other instances ask
 * for its lock, one fails now and then, and one is slow.
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
	 * Takes less than a millisecond, and still runs on one instance.
	 */
	@Scheduled(cron = "*/${sample.reminders.every-seconds} * * * * *")
	@DistributedLock(name = "reminders")
	void remind() {
		// There is nobody to remind: the shortest job that there can be
	}

	@Scheduled(fixedRateString = "${sample.payments.every}")
	@DistributedLock(name = "payments")
	void collect() {
		if (ThreadLocalRandom.current().nextDouble() < this.failures) {
			throw new IllegalStateException("The bank does not answer");
		}
	}

	/**
	 * Long enough to be killed. The statements can be made again without harm.
	 */
	@Scheduled(cron = "*/${sample.statements.every-seconds} * * * * *")
	@DistributedLock(name = "statements")
	@JobPolicy(whenCrashed = WhenCrashed.RERUN)
	void make() throws InterruptedException {
		Thread.sleep(this.work.toMillis());
	}

}
