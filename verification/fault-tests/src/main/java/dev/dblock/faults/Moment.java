package dev.dblock.faults;

/**
 * Moments at which a fault can find a worker, to stop it for longer than its lease.
 */
enum Moment {

	/**
	 * Between reading and writing, as if a lock were sufficient.
	 */
	UNFENCED,
	/**
	 * Between reading and writing with a token.
	 */
	TOKEN,
	/**
	 * Between reading and the beginning of its transaction. The deadline of its lease
	 * then rejects the transaction.
	 */
	TRANSACTION,
	/**
	 * In its transaction, after the check of the deadline and before its fence is sent.
	 * Only the fence then rejects the transaction.
	 */
	FENCE,
	/**
	 * After its fence was written and before its commit is sent. Another instance that
	 * takes over the lock waits for the transaction.
	 */
	COMMIT,
	/**
	 * During a run of a scheduled job.
	 */
	RUN;

	static Moment before(Writing writing) {
		return switch (writing) {
			case NONE -> throw new IllegalArgumentException("nothing is written");
			case UNFENCED -> UNFENCED;
			case TOKEN -> TOKEN;
			case TRANSACTION -> TRANSACTION;
		};
	}

}
