package dev.dblock.mongodb.request;

/**
 * One sample of the server's clock, and the bounds for later times that it allows. All
 * times except {@code serverTime} and {@code wallTime} are {@code nanoTime}.
 *
 * @param serverTime the time of the server's clock, in milliseconds, rounded down
 * @param sent when the request was sent
 * @param received when the answer was received
 * @param wallTime the time of the local wall clock at that moment, in milliseconds
 * @param topology the servers and the election to which it belongs
 */
record ClockSample(long serverTime, long sent, long received, long wallTime, Object topology) {

	private static final long NANOS = 1_000_000;

	/** How long a sample is used. */
	private static final long LIFE = 60_000 * NANOS;

	/**
	 * The error in milliseconds above which a sample is discarded.
	 */
	static final long TOLERANCE = 100;

	/**
	 * Return the earliest time that the server's clock can show.
	 * @param now the current {@code nanoTime}
	 * @return milliseconds
	 */
	long notBefore(long now) {
		long passed = (now - this.received) / NANOS;
		return this.serverTime + passed - LeaseTimes.driftOf(passed);
	}

	/**
	 * Return the latest time that the server's clock can show.
	 * @param now the current {@code nanoTime}
	 * @return milliseconds
	 */
	long notAfter(long now) {
		long passed = (now - this.sent) / NANOS + 1;
		return this.serverTime + 1 + passed + LeaseTimes.driftOf(passed);
	}

	/**
	 * Return whether the sample may still be used. {@code nanoTime} stands still while a
	 * machine is suspended, the wall clock usually does not. If both do, only
	 * {@link #isConfirmedBy(ClockSample)} detects it.
	 * @param now the current {@code nanoTime}
	 * @param wallTime the current time of the wall clock
	 * @param topology the current servers and election
	 * @return whether it may be used
	 */
	boolean isGood(long now, long wallTime, Object topology) {
		long passed = now - this.received;
		return passed < LIFE && Math.abs(wallTime - this.wallTime - passed / NANOS) <= TOLERANCE
				&& this.topology.equals(topology);
	}

	/**
	 * Return whether a later sample shows that this one was right until then. It does if
	 * the server's clock is not ahead of the time expected by this sample, so that
	 * neither of the local clocks stood still in between.
	 * @param later a sample that was requested later
	 * @return whether this sample was wrong by no more than {@link #TOLERANCE}
	 */
	boolean isConfirmedBy(ClockSample later) {
		return later.serverTime < notAfter(later.sent) + TOLERANCE;
	}

}
