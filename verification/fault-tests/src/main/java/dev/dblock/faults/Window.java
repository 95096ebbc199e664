package dev.dblock.faults;

/**
 * Time of a fault.
 *
 * @param kind the kind of the fault
 * @param worker the number of the affected worker; zero if the servers were affected, and
 * {@link #NO_WORKER} if the window excuses no worker
 * @param beginNanos when it began
 * @param endNanos when it was over
 */
record Window(String kind, int worker, long beginNanos, long endNanos) {

	static final int NO_WORKER = -1;

	private static final String ELECTION = ", election";

	/** Kind of every election, whatever its cause. */
	static final String ELECTED = "primary elected";

	/** Kind of the time until each worker has worked for the first time. */
	static final String START = "workers start";

	boolean isForAll() {
		return this.worker == 0;
	}

	/**
	 * Return the kind of a fault that was attempted, but was rejected or affected no one.
	 * It excuses the same as the fault, since its effects are not known.
	 */
	static String notDone(String kind) {
		return kind + ", not done";
	}

	/**
	 * Return the kind of a fault that affected any worker, because no suitable one was
	 * found.
	 */
	static String noWriterFound(String kind) {
		return kind + ", no writer found";
	}

	/**
	 * Create the part of a fault of the servers that ends with the election of another
	 * primary. Such a window is reported, and excuses nothing.
	 */
	static Window election(String kind, long beginNanos, long endNanos) {
		return new Window(kind + ELECTION, NO_WORKER, beginNanos, endNanos);
	}

	boolean isElection() {
		return this.worker == NO_WORKER;
	}

	boolean isElectionOf(Window fault) {
		return isElection() && this.kind.equals(fault.kind + ELECTION) && this.beginNanos == fault.beginNanos;
	}

	/**
	 * Return whether this is the time of an election, as part of a fault or on its own.
	 */
	boolean isOfElection() {
		return isElection() || this.kind.equals(ELECTED);
	}

	/**
	 * Return whether the only disturbance was that there was no primary, or none that
	 * answered.
	 */
	boolean isOfPrimary() {
		return isForAll() && this.kind.startsWith("primary ");
	}

	Window forAll() {
		return new Window(this.kind, 0, this.beginNanos, this.endNanos);
	}

	/**
	 * Return whether the fault affected a worker or the servers.
	 */
	boolean isFor(int worker) {
		return isForAll() || this.worker == worker;
	}

	Span span() {
		return new Span(this.beginNanos, this.endNanos);
	}

	boolean overlaps(long fromNanos, long toNanos) {
		return this.beginNanos < toNanos && this.endNanos > fromNanos;
	}

}
