package com.acme;

import dev.dblock.DistributedLock;
import dev.dblock.LockAssert;
import dev.dblock.WhenLost;

import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

@Component
public class Invoices {

	private final Ledger ledger;

	private final TransactionTemplate transactions;

	Invoices(Ledger ledger, Database database) {
		this.ledger = ledger;
		this.transactions = new TransactionTemplate(database);
	}

	@DistributedLock("nightly-invoices")
	public void write() {
		LockAssert.assertLocked();
		this.transactions.executeWithoutResult((status) -> this.ledger.close());
	}

	@DistributedLock(name = "nightly-invoices", waitSeconds = 60)
	public void writeLater() {
		write();
	}

	@DistributedLock(name = "reminders", whenLost = WhenLost.INTERRUPT)
	public void remind() {
		this.ledger.close();
	}

	public void writeUnlocked() {
		write();
	}

}
