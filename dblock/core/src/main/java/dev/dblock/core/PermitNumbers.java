package dev.dblock.core;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

import dev.dblock.LockInfo;
import dev.dblock.core.lease.LockClock;
import dev.dblock.store.LockRepository.AcquireAnswer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the number of permits that this process requests with the one that others have
 * requested, and reports a difference.
 */
final class PermitNumbers {

	private static final long HOUR = Duration.ofHours(1).toNanos();

	private static final Logger logger = LoggerFactory.getLogger(PermitNumbers.class);

	private final LockClock clock;

	private final AtomicLong nextWarning;

	PermitNumbers(LockClock clock) {
		this.clock = clock;
		this.nextWarning = new AtomicLong(clock.nanoTime());
	}

	/**
	 * Compare the number with that of the earlier holder of the same permit.
	 */
	void compare(String name, int permits, AcquireAnswer.Granted granted) {
		if (granted.earlierPermits() > 0) {
			warn(name, permits, granted.earlierPermits());
		}
	}

	/**
	 * Compare the number with those of the holders.
	 */
	void compare(String name, int permits, AcquireAnswer.Refused refused) {
		refused.permits()
			.stream()
			.filter(LockInfo::held)
			.mapToInt(LockInfo::permits)
			.filter((number) -> number != permits)
			.max()
			.ifPresent((number) -> warn(name, permits, Math.max(1, number)));
	}

	private void warn(String name, int permits, int others) {
		long now = this.clock.nanoTime();
		long next = this.nextWarning.get();
		if (now - next >= 0 && this.nextWarning.compareAndSet(next, now + HOUR)) {
			logger
				.warn("The lock '{}' is requested with {} permits here, and with {} elsewhere. Until all instances use"
						+ " the same number, it has at most the larger number of holders. Other differences are not"
						+ " logged for an hour", name, permits, others);
		}
	}

}
