package dev.dblock.settings;

import java.time.Duration;

import dev.dblock.Durations;
import dev.dblock.store.AcquireRequest;

/**
 * How far a lock is handed on inside the process before other processes get their turn.
 *
 * @param maxCount how many times in a row at most; zero switches handing over off
 * @param maxTime for how long at most; zero switches handing over off
 */
public record HandOffSettings(int maxCount, Duration maxTime) {

	private static final long MOST_MILLIS = 1000;

	/**
	 * Check that neither is negative.
	 * @throws IllegalArgumentException when one is
	 */
	public HandOffSettings {
		if (maxCount < 0) {
			throw new IllegalArgumentException(
					"The hand-over count must not be negative, but is %d (zero switches handing over off)"
						.formatted(maxCount));
		}
		if (maxTime.isNegative()) {
			throw new IllegalArgumentException(
					"The hand-over time must not be negative, but is %s (zero switches handing over off)"
						.formatted(Durations.written(maxTime)));
		}
	}

	/**
	 * How many fencing tokens to reserve where threads of this process wait in line. Not
	 * more than the store's clock counts while the lock goes round here, or the tokens
	 * would run ahead of it; so twice as many as were needed under the last grant, which
	 * are counted by that clock in two microseconds each.
	 * @param handOvers how often the lock was handed over under the last grant
	 */
	public int tokens(int handOvers) {
		long most = Math.min(Math.min(this.maxTime.toMillis(), MOST_MILLIS) * AcquireRequest.USUAL_TOKENS,
				this.maxCount + 1L);
		return (int) Math.max(AcquireRequest.USUAL_TOKENS, Math.min(most, 2 * (handOvers + 1L)));
	}

}
