package dev.dblock.sample.billing;

import dev.dblock.LockContext;
import dev.dblock.LockHandle;
import dev.dblock.LockLostException;
import dev.dblock.sample.SampleServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.data.mongodb.MongoTransactionManager;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Writes under the locks of the calling thread, in a transaction that dblock fences
 * automatically. If the server does not support transactions, the holder can only check
 * its own lease before it writes, which is not a guarantee.
 */
@Component
class FencedWrites {

	private static final Logger logger = LoggerFactory.getLogger(FencedWrites.class);

	private final SampleServer server;

	private final TransactionTemplate transactions;

	private final ApplicationEventPublisher events;

	FencedWrites(SampleServer server, MongoTransactionManager transactionManager, ApplicationEventPublisher events) {
		this.server = server;
		this.transactions = new TransactionTemplate(transactionManager);
		this.events = events;
	}

	void write(String what, Runnable writes) {
		boolean committing = this.server.hasTransactions();
		try {
			if (committing) {
				this.transactions.executeWithoutResult((status) -> writes.run());
			}
			else {
				LockContext.current().ifPresent(LockHandle::ensureHeld);
				writes.run();
			}
		}
		catch (LockLostException ex) {
			logger.warn("REFUSED   {}: the lock '{}' is lost, so nothing was written", what, ex.name());
			this.events.publishEvent(new WriteRefusedEvent(ex.name(), ex.token(), what, committing));
			throw ex;
		}
	}

}
