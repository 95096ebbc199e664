package dev.dblock.core;

import java.util.concurrent.atomic.LongAdder;

import dev.dblock.LossReason;

/**
 * Counts failures of leases. Failures are only counted here, so that no renewal waits for
 * a reader.
 */
final class LeaseStatistics {

	private final Counts<LossReason> lost = new Counts<>(LossReason.class);

	private final LongAdder renewedLate = new LongAdder();

	private final LongAdder notRenewed = new LongAdder();

	void countLost(LossReason reason) {
		this.lost.count(reason);
	}

	void countRenewedLate() {
		this.renewedLate.increment();
	}

	void countNotRenewed(int leases) {
		this.notRenewed.add(leases);
	}

	long lost(LossReason reason) {
		return this.lost.of(reason);
	}

	long renewedLate() {
		return this.renewedLate.sum();
	}

	long notRenewed() {
		return this.notRenewed.sum();
	}

}
