package dev.dblock.faults;

/**
 * Ways in which a section acquires its lock.
 */
enum Kind {

	/**
	 * With {@code acquire}, waiting.
	 */
	ACQUIRE(true),
	/**
	 * With {@code tryAcquire}, not waiting.
	 */
	TRY(false),
	/**
	 * With {@code execute}, waiting.
	 */
	EXECUTE(true),
	/**
	 * With the annotation, waiting.
	 */
	ANNOTATED(true),
	/**
	 * With {@code acquire}, waiting, and then with {@code extend} for longer than the
	 * lease.
	 */
	EXTENDED(true);

	private final boolean waiting;

	Kind(boolean waiting) {
		this.waiting = waiting;
	}

	boolean isWaiting() {
		return this.waiting;
	}

}
