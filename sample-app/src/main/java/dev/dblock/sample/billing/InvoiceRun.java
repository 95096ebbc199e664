package dev.dblock.sample.billing;

import java.time.Instant;

import dev.dblock.DistributedLock;
import dev.dblock.LockUnavailableException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * A job that is due on every instance at the same second and runs on one of them. The
 * others wait a little, so that they take over as soon as the lease of one that died has
 * ended, and not at their next second. The minimum hold is longer than that wait and than
 * the difference of the instances' clocks, so none of them runs the job again.
 */
@Component
class InvoiceRun {

	private static final Logger logger = LoggerFactory.getLogger(InvoiceRun.class);

	private final BillingStore store;

	private final Accounts accounts;

	private final long everySeconds;

	InvoiceRun(BillingStore store, Accounts accounts, @Value("${sample.invoice-run.every-seconds}") long everySeconds) {
		this.store = store;
		this.accounts = accounts;
		this.everySeconds = everySeconds;
	}

	@Scheduled(cron = "*/${sample.invoice-run.every-seconds} * * * * *")
	@DistributedLock(name = "invoice-run", waitString = "${sample.invoice-run.wait}",
			minHoldString = "${sample.invoice-run.min-hold}")
	void bill() throws InterruptedException {
		long now = Instant.now().getEpochSecond();
		logger.info("WORKS     on the invoice run of {}", Instant.ofEpochSecond(now - now % this.everySeconds));
		for (String customer : this.store.customersWithOpenOrders()) {
			settle(customer);
		}
	}

	private void settle(String customer) throws InterruptedException {
		try {
			this.accounts.settle(customer);
		}
		catch (LockUnavailableException ex) {
			logger.info("LEAVES    {} to the next run, since somebody else bills it now", customer);
		}
	}

}
