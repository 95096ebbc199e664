package dev.dblock.faults;

/**
 * When a fault was there.
 *
 * @param kind what happened
 * @param worker the number of the worker to which it happened; zero when it happened to
 * the servers, and {@link #NOBODY} when it excuses nobody
 * @param beginNanos when it began
 * @param endNanos when it was over
 */
record Window(String kind, int worker, long beginNanos, long endNanos) {

	static final int NOBODY = -1;

	private static final String ELECTION = ", election";

	/** Of every election, whatever it comes of. */
	static final String ELECTED = "primary elected";

	boolean isForAll() {
		return this.worker == 0;
	}

	/**
	 * What a fault is called that was tried, and was refused or met nobody. It excuses as
	 * the fault does, since nobody knows what came of it.
	 */
	static String notDone(String kind) {
		return kind + ", not done";
	}

	/**
	 * What a fault is called that happened to anybody, since nobody was found to whom it
	 * should.
	 */
	static String nobodyFound(String kind) {
		return kind + ", nobody found";
	}

	/**
	 * The part of a fault of the servers that ends with the election of another primary:
	 * something that is told, and excuses nothing.
	 */
	static Window election(String kind, long beginNanos, long endNanos) {
		return new Window(kind + ELECTION, NOBODY, beginNanos, endNanos);
	}

	boolean isElection() {
		return this.worker == NOBODY;
	}

	boolean isElectionOf(Window fault) {
		return isElection() && this.kind.equals(fault.kind + ELECTION) && this.beginNanos == fault.beginNanos;
	}

	/**
	 * Whether it is the time that an election took, as part of a fault or by itself.
	 */
	boolean isOfElection() {
		return isElection() || this.kind.equals(ELECTED);
	}

	/**
	 * Whether nothing else happened than that there was no primary, or none that
	 * answered.
	 */
	boolean isOfPrimary() {
		return isForAll() && this.kind.startsWith("primary ");
	}

	Window forAll() {
		return new Window(this.kind, 0, this.beginNanos, this.endNanos);
	}

	/**
	 * Whether it happened to a worker or to the servers.
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
