package dev.dblock.mongodb.request;

import java.time.Duration;

import dev.dblock.support.Durations;

/**
 * The time limit of a request, with advice on how to extend it.
 *
 * @param length how long the request may take
 * @param remedy how to allow more time
 */
record TimeLimit(Duration length, String remedy) {

	/**
	 * Create the limit of a request that the engine sends.
	 * @param length how long it may take
	 * @param configured the setting for requests that have no limit of their own
	 * @return the limit
	 */
	static TimeLimit of(Duration length, Duration configured) {
		return new TimeLimit(length,
				length.equals(configured)
						? ", or allow more time (dblock.mongodb.timeout; no request takes longer than the lease)"
						: ". That limit was this request's share of the time that dblock.mongodb.timeout, the wait"
								+ " and the lease allow");
	}

	/**
	 * Create a limit that cannot be configured.
	 * @param length how long the request may take
	 * @return the limit
	 */
	static TimeLimit fixed(Duration length) {
		return new TimeLimit(length, ". That limit cannot be configured");
	}

	String readable() {
		return Durations.readable(this.length);
	}

}
