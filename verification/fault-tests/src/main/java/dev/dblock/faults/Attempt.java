package dev.dblock.faults;

/**
 * Record by one thread of one attempt to acquire a lock, and of its section. Stamps come
 * from a counter that all processes share, so that they are in order. Nanoseconds come
 * from the monotonic clock of the machine.
 *
 * @param worker the number of the worker
 * @param life the number of the worker's process
 * @param name the name of the lock
 * @param kind the kind of request
 * @param requestNanos the time of the request
 * @param enterStamp the stamp after the grant; zero if there was none
 * @param enterNanos the time after the grant
 * @param token the fencing token
 * @param heldStamp the stamp before the handle last reported the lock as held; zero if it
 * never did
 * @param heldNanos the time before the handle last reported the lock as held
 * @param heldUntilNanos the time until which the handle then expected to hold it
 * @param lostNanos the time at which the handle reported its loss; zero if it did not
 * @param heldAfterLoss whether the handle later reported the lock as held after all
 * @param endNanos the time at which the attempt ended, or at which the process ended if
 * it was killed
 * @param outcome the outcome
 * @param writing how data was written
 * @param written the outcome of the write
 * @param value the number that was written
 */
record Attempt(int worker, int life, String name, Kind kind, long requestNanos, long enterStamp, long enterNanos,
		long token, long heldStamp, long heldNanos, long heldUntilNanos, long lostNanos, boolean heldAfterLoss,
		long endNanos, Outcome outcome, Writing writing, Written written, long value) {

	/**
	 * Return whether the handle claimed the lock at any instant.
	 */
	boolean isClaimed() {
		return this.heldStamp > 0;
	}

	boolean isGranted() {
		return this.enterStamp > 0;
	}

	/**
	 * Return whether a transaction was committed after the lease had ended on the server.
	 * This is possible because it had written its fence before.
	 */
	boolean isCommittedLate() {
		return this.writing == Writing.TRANSACTION && this.written == Written.CONFIRMED && isClaimed()
				&& this.endNanos > this.heldUntilNanos + LockName.allowance(this.name).toNanos();
	}

	/**
	 * Return whether the attempt sent the fence of a transaction. Another instance that
	 * takes over the lock has to wait for the end of that transaction.
	 */
	boolean isFenced() {
		return this.writing == Writing.TRANSACTION && switch (this.written) {
			case FENCED, CONFIRMED, REFUSED_BY_FENCE -> true;
			case NOTHING, UNKNOWN, REFUSED, REFUSED_BY_DEADLINE -> false;
		};
	}

	/**
	 * Return by how much the attempt may block the lock for longer than its usual lease.
	 * An extension may have been applied although its answer never arrived.
	 */
	long extensionNanos() {
		LockName lock = LockName.of(this.name);
		return (this.kind == Kind.EXTENDED) ? lock.extendedLease().minus(lock.lease()).toNanos() : 0;
	}

	/**
	 * Return the time until which the thread waited for the lock.
	 */
	long waitEndNanos() {
		return isGranted() ? this.enterNanos : this.endNanos;
	}

	/**
	 * Return the same attempt of a process that was killed.
	 */
	Attempt endedAt(long nanos) {
		return new Attempt(this.worker, this.life, this.name, this.kind, this.requestNanos, this.enterStamp,
				this.enterNanos, this.token, this.heldStamp, this.heldNanos, this.heldUntilNanos, this.lostNanos,
				this.heldAfterLoss, nanos, this.outcome, this.writing, this.written, this.value);
	}

}
