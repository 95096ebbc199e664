package dev.dblock.settings;

import java.time.Duration;

import dev.dblock.support.Durations;

/**
 * Settings for waiting callers that ask again without a notification.
 *
 * @param minInterval the pause after the first refusal
 * @param maxInterval the longest pause; pauses double up to it and are jittered
 * @param always whether callers poll even if the store reports releases, so that the
 * store does not have to report them to this process
 */
public record PollSettings(Duration minInterval, Duration maxInterval, boolean always) {

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

	/**
	 * Create settings for callers that poll only while the store does not report
	 * releases.
	 * @param minInterval the pause after the first refusal
	 * @param maxInterval the longest pause
	 * @throws IllegalArgumentException if the pauses are not positive and in order
	 */
	public PollSettings(Duration minInterval, Duration maxInterval) {
		this(minInterval, maxInterval, false);
	}

}
