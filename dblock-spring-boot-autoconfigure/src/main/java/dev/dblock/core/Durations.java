package dev.dblock.core;

import java.time.Duration;

/**
 * What {@link Duration} does not offer.
 */
final class Durations {

	private Durations() {
	}

	static Duration shorter(Duration one, Duration other) {
		return (one.compareTo(other) <= 0) ? one : other;
	}

}
