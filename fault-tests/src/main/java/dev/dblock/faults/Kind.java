package dev.dblock.faults;

/**
 * How a section gets its lock.
 */
enum Kind {

	/**
	 * By {@code acquire}, waiting.
	 */
	ACQUIRE(true),
	/**
	 * By {@code tryAcquire}, not waiting.
	 */
	TRY(false),
	/**
	 * By {@code execute}, waiting.
	 */
	EXECUTE(true),
	/**
	 * By the annotation, waiting.
	 */
	ANNOTATED(true),
	/**
	 * By {@code acquire}, waiting, and then for longer than the lease by {@code extend}.
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
