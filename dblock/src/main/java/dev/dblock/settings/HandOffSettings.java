package dev.dblock.settings;

import java.time.Duration;

import dev.dblock.store.AcquireRequest;
import dev.dblock.support.Durations;

/**
 * Limits for handing a lock over inside the process before other processes get their
 * turn.
 *
 * @param maxCount the maximum number of hand-overs in a row; zero disables handing over
 * @param maxTime the maximum duration of hand-overs in a row; zero disables handing over
 */
public record HandOffSettings(int maxCount, Duration maxTime) {

	private static final long MOST_MILLIS = 1000;

	/**
	 * Check that neither is negative.
	 * @throws IllegalArgumentException if one is
	 */
	public HandOffSettings {
		if (maxCount < 0) {
			throw new IllegalArgumentException(
					"The hand-over count must not be negative, but is %d (zero disables hand-over)"
						.formatted(maxCount));
		}
		if (maxTime.isNegative()) {
			throw new IllegalArgumentException(
					"The hand-over time must not be negative, but is %s (zero disables hand-over)"
						.formatted(Durations.written(maxTime)));
		}
	}

	/**
	 * Return how many fencing tokens to reserve if threads of this process wait for the
	 * lock. The number must not exceed what the store's clock counts while the lock is
	 * handed over here, or the tokens would run ahead of that clock. So it is twice the
	 * number that was needed under the last grant, which the clock counts at two
	 * microseconds for each of those.
	 * @param handOvers how often the lock was handed over under the last grant
	 */
	public int tokens(int handOvers) {
		long most = Math.min(Math.min(this.maxTime.toMillis(), MOST_MILLIS) * AcquireRequest.USUAL_TOKENS,
				this.maxCount + 1L);
		return (int) Math.max(AcquireRequest.USUAL_TOKENS, Math.min(most, 2 * (handOvers + 1L)));
	}

}
