package dev.dblock.sample.billing;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import dev.dblock.DistributedLock;
import dev.dblock.LockContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;

/**
 * Bills customers. Different customers are billed in parallel, but each customer by one
 * instance at a time, either by the run or on request.
 */
@Service
class Accounts {

	private static final Logger logger = LoggerFactory.getLogger(Accounts.class);

	private final BillingStore store;

	private final FencedWrites writes;

	private final Duration work;

	private final int batch;

	private final String instance;

	Accounts(BillingStore store, FencedWrites writes, @Value("${sample.account.work}") Duration work,
			@Value("${sample.account.batch}") int batch, @Value("${dblock.acquirer}") String instance) {
		this.store = store;
		this.writes = writes;
		this.work = work;
		this.batch = batch;
		this.instance = instance;
	}

	@DistributedLock(name = "account-#{#customer}", waitString = "${sample.account.wait}")
	Optional<Invoice> settle(String customer) throws InterruptedException {
		List<Order> open = this.store.openOrders(customer, this.batch);
		if (open.isEmpty()) {
			return Optional.empty();
		}
		logger.info("WORKS     on an invoice for {} with {} orders", customer, open.size());
		Thread.sleep(this.work.toMillis());
		long token = LockContext.current().orElseThrow().token();
		Invoice invoice = Invoice.of(customer, open, token, this.instance);
		this.writes.write("the invoice for " + customer, () -> this.store.write(invoice));
		return Optional.of(invoice);
	}

}
