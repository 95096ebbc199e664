package dev.dblock.sample.billing;

import dev.dblock.DistributedLock;
import dev.dblock.LockUnavailableException;
import dev.dblock.job.JobPolicy;
import dev.dblock.job.JobPolicy.WhenCrashed;
import dev.dblock.job.JobRun;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Job that is due on every instance in the same second and runs on one of them. It can be
 * repeated without harm. If an instance dies during a run, another instance repeats the
 * run once the lease has ended.
 */
@Component
class InvoiceRun {

	private static final Logger logger = LoggerFactory.getLogger(InvoiceRun.class);

	private final BillingStore store;

	private final Accounts accounts;

	InvoiceRun(BillingStore store, Accounts accounts) {
		this.store = store;
		this.accounts = accounts;
	}

	@Scheduled(cron = "*/${sample.invoice-run.every-seconds} * * * * *")
	@DistributedLock(name = "invoice-run")
	@JobPolicy(whenCrashed = WhenCrashed.RERUN)
	void bill() throws InterruptedException {
		JobRun.current()
			.ifPresent((run) -> logger.info("WORKS     on the invoice run of {}, attempt {}", run.plannedAt(),
					run.attempt()));
		for (String customer : this.store.customersWithOpenOrders()) {
			settle(customer);
		}
	}

	private void settle(String customer) throws InterruptedException {
		try {
			this.accounts.settle(customer);
		}
		catch (LockUnavailableException ex) {
			logger.info("LEAVES    {} to the next run, since another instance bills it now", customer);
		}
	}

}
