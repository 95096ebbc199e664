package dev.dblock.faults;

/**
 * What one thread recorded of one attempt to get a lock and of its section. Stamps come
 * from one counter that all processes share, so that they are in order; nanoseconds from
 * the monotonic clock of the machine.
 *
 * @param worker the number of the worker
 * @param life which process of the worker it was
 * @param name the lock
 * @param kind how the lock was asked for
 * @param requestNanos when it was asked for
 * @param enterStamp after the grant; zero when there was none
 * @param enterNanos after the grant
 * @param token the fencing token
 * @param heldStamp before the handle last said that it holds the lock; zero when it never
 * said so
 * @param heldNanos before the handle last said that it holds the lock
 * @param heldUntilNanos until when the handle meant to hold it then
 * @param lostNanos when the handle told of its loss; zero when it did not
 * @param heldAfterLoss whether the handle said later that it holds the lock after all
 * @param endNanos when all was over; when the process went, if it was killed
 * @param outcome what became of it
 * @param writing how data was written
 * @param written what became of that
 * @param value the number that was written
 */
record Attempt(int worker, int life, String name, Kind kind, long requestNanos, long enterStamp, long enterNanos,
		long token, long heldStamp, long heldNanos, long heldUntilNanos, long lostNanos, boolean heldAfterLoss,
		long endNanos, Outcome outcome, Writing writing, Written written, long value) {

	/**
	 * Whether there was an instant at which the handle claimed the lock.
	 */
	boolean isClaimed() {
		return this.heldStamp > 0;
	}

	boolean isGranted() {
		return this.enterStamp > 0;
	}

	/**
	 * Whether a transaction was committed when the server had the lease as over: it had
	 * written its fence before.
	 */
	boolean isCommittedLate() {
		return this.writing == Writing.TRANSACTION && this.written == Written.CONFIRMED && isClaimed()
				&& this.endNanos > this.heldUntilNanos + LockName.allowance(this.name).toNanos();
	}

	/**
	 * Whether it sent the fence of a transaction, for the end of which whoever takes the
	 * lock over has to wait.
	 */
	boolean isFenced() {
		return this.writing == Writing.TRANSACTION && switch (this.written) {
			case FENCED, CONFIRMED, REFUSED_BY_FENCE -> true;
			case NOTHING, UNKNOWN, REFUSED, REFUSED_BY_DEADLINE -> false;
		};
	}

	/**
	 * By how much more than its usual lease it may leave the lock to itself: an extension
	 * can have been done though its answer never came.
	 */
	long extensionNanos() {
		LockName lock = LockName.of(this.name);
		return (this.kind == Kind.EXTENDED) ? lock.extendedLease().minus(lock.lease()).toNanos() : 0;
	}

	/**
	 * Until when the thread waited for the lock.
	 */
	long waitEndNanos() {
		return isGranted() ? this.enterNanos : this.endNanos;
	}

	/**
	 * The same attempt of a process that was killed.
	 */
	Attempt endedAt(long nanos) {
		return new Attempt(this.worker, this.life, this.name, this.kind, this.requestNanos, this.enterStamp,
				this.enterNanos, this.token, this.heldStamp, this.heldNanos, this.heldUntilNanos, this.lostNanos,
				this.heldAfterLoss, nanos, this.outcome, this.writing, this.written, this.value);
	}

}
