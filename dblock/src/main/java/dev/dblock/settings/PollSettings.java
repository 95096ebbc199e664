package dev.dblock.settings;

import java.time.Duration;

import dev.dblock.support.Durations;

/**
 * Settings for waiting callers that ask again without a notification.
 *
 * @param minInterval the pause after the first refusal
 * @param maxInterval the longest pause; pauses double up to it and are jittered
 */
public record PollSettings(Duration minInterval, Duration maxInterval) {

	/**
	 * Check that the pauses are positive and in order.
	 * @throws IllegalArgumentException if they are not
	 */
	public PollSettings {
		if (minInterval.isNegative() || minInterval.isZero()) {
			throw new IllegalArgumentException(
					"The minimum poll interval must be positive, but is " + Durations.written(minInterval));
		}
		if (maxInterval.compareTo(minInterval) < 0) {
			throw new IllegalArgumentException("The maximum poll interval (%s) must not be below the minimum (%s)"
				.formatted(Durations.written(maxInterval), Durations.written(minInterval)));
		}
	}

}
