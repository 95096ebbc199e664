package dev.dblock.core;

import java.util.concurrent.atomic.LongAdder;

import dev.dblock.LossReason;

/**
 * Counts failures of leases. Failures are only counted here, so that no renewal waits for
 * a reader.
 */
final class LeaseStatistics {

	private final LongAdder[] lost = new LongAdder[LossReason.values().length];

	private final LongAdder renewedLate = new LongAdder();

	private final LongAdder notRenewed = new LongAdder();

	LeaseStatistics() {
		for (int i = 0; i < this.lost.length; i++) {
			this.lost[i] = new LongAdder();
		}
	}

	void countLost(LossReason reason) {
		this.lost[reason.ordinal()].increment();
	}

	void countRenewedLate() {
		this.renewedLate.increment();
	}

	void countNotRenewed(int leases) {
		this.notRenewed.add(leases);
	}

	long lost(LossReason reason) {
		return this.lost[reason.ordinal()].sum();
	}

	long renewedLate() {
		return this.renewedLate.sum();
	}

	long notRenewed() {
		return this.notRenewed.sum();
	}

}
