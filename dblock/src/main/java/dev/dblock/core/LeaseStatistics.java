package dev.dblock.core;

import java.util.concurrent.atomic.LongAdder;

import dev.dblock.LossReason;

/**
 * Counts failures of leases. Failures are only counted here, so that no renewal waits for
 * a reader.
 *
 * @param lost leases that were lost, by the reason
 * @param renewedLate leases that were renewed with less than a third of them left
 * @param notRenewed leases that a failed request should have renewed
 */
record LeaseStatistics(Counts<LossReason> lost, LongAdder renewedLate, LongAdder notRenewed) {

	LeaseStatistics() {
		this(new Counts<>(LossReason.class), new LongAdder(), new LongAdder());
	}

}
