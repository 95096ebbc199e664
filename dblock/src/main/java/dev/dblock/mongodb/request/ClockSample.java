package dev.dblock.mongodb.request;

/**
 * One reading of the server's clock, and what follows from it later. All but
 * {@code serverTime} and {@code wallTime} are {@code nanoTime}.
 *
 * @param serverTime what the server's clock showed, in milliseconds, rounded down
 * @param sent when it was asked for
 * @param received when the answer was there
 * @param wallTime what the wall clock here showed then, in milliseconds
 * @param topology which server and election it belongs to
 */
record ClockSample(long serverTime, long sent, long received, long wallTime, Object topology) {

	private static final long NANOS = 1_000_000;

	/** For how long a sample is used. */
	private static final long LIFE = 60_000 * NANOS;

	/**
	 * By how many milliseconds a sample may be wrong before it is discarded.
	 */
	static final long TOLERANCE = 100;

	/**
	 * The earliest time that the server's clock can show.
	 * @param now the present {@code nanoTime}
	 * @return milliseconds
	 */
	long notBefore(long now) {
		long passed = (now - this.received) / NANOS;
		return this.serverTime + passed - LeaseTimes.driftOf(passed);
	}

	/**
	 * The latest time that the server's clock can show.
	 * @param now the present {@code nanoTime}
	 * @return milliseconds
	 */
	long notAfter(long now) {
		long passed = (now - this.sent) / NANOS + 1;
		return this.serverTime + 1 + passed + LeaseTimes.driftOf(passed);
	}

	/**
	 * Whether the sample may still be used: nanoTime stands still while a machine is
	 * suspended, the wall clock usually does not. Where both do, only
	 * {@link #isConfirmedBy(ClockSample)} shows it.
	 * @param now the present {@code nanoTime}
	 * @param wallTime the present time of the wall clock
	 * @param topology the present server and election
	 * @return whether it may be used
	 */
	boolean isGood(long now, long wallTime, Object topology) {
		long passed = now - this.received;
		return passed < LIFE && Math.abs(wallTime - this.wallTime - passed / NANOS) <= TOLERANCE
				&& this.topology.equals(topology);
	}

	/**
	 * Whether a later sample shows that this one was right until then: the server's clock
	 * is not ahead of where this sample puts it, so neither of the clocks here stood
	 * still in between.
	 * @param later a sample that was asked for later
	 * @return whether this sample was wrong by no more than {@link #TOLERANCE}
	 */
	boolean isConfirmedBy(ClockSample later) {
		return later.serverTime < notAfter(later.sent) + TOLERANCE;
	}

}
