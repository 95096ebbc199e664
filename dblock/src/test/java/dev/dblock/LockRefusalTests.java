package dev.dblock;

import java.time.Duration;
import java.time.Instant;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the description of a lock with permits that is not available.
 */
class LockRefusalTests {

	private static final Instant START = Instant.parse("2026-11-24T02:00:00Z");

	private static LockInfo lock(boolean held, Duration remaining, int permits) {
		return new LockInfo("export", held, "5f1c", "host-1", "main", "an export", 7, START, START, START, null,
				remaining, permits);
	}

	private static String describe(LockInfo holder, int permits, String remark) {
		return new LockRefusal("export", holder, Duration.ofSeconds(5), remark, null).withPermits(permits).describe();
	}

	@Test
	void allPermitsAreInUse() {
		assertThat(describe(lock(true, Duration.ofSeconds(12), 3), 3, null))
			.isEqualTo("The lock 'export' is not available after a wait of 5 s: all 3 permits are in use, and the next"
					+ " one to end is held by host-1 (thread main) since 2026-11-24T02:00:00Z, for an export;"
					+ " unavailable for another 12 s unless it is renewed or released");
		assertThat(describe(lock(false, Duration.ofSeconds(12), 3), 3, null))
			.isEqualTo("The lock 'export' is not available after a wait of 5 s: all 3 permits are in use, and the next"
					+ " one to end is still reserved, since it was released by host-1 within its minimum hold, or by an"
					+ " operator; unavailable for another 12 s");
	}

	@Test
	void aSinglePermitReadsAsAPlainLock() {
		assertThat(describe(lock(true, Duration.ofSeconds(12), 1), 1, null)).contains("5 s: held by host-1 (thread");
	}

	@Test
	void permitsWhileAPlainLockIsHeld() {
		assertThat(describe(lock(true, Duration.ofSeconds(12), 0), 3, null))
			.contains("5 s: held as a plain lock by host-1 (thread main)");
	}

	@Test
	void aPlainLockThatHasPermitsElsewhere() {
		assertThat(describe(lock(false, Duration.ZERO, 3), 0, "It has 3 permits elsewhere"))
			.isEqualTo("The lock 'export' is not available after a wait of 5 s. It has 3 permits elsewhere");
		assertThat(describe(lock(true, Duration.ofSeconds(12), 3), 0, "It has 3 permits elsewhere"))
			.contains("5 s: held by host-1 ")
			.endsWith(". It has 3 permits elsewhere");
	}

}
