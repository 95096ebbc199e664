package dev.dblock.faults;

/**
 * Where a worker can be found, to be stopped there for longer than its lease.
 */
enum Moment {

	/**
	 * Between reading and writing, as if a lock were enough.
	 */
	UNFENCED,
	/**
	 * Between reading and writing by token.
	 */
	TOKEN,
	/**
	 * Between reading and the beginning of its transaction. The deadline of its lease
	 * refuses it afterwards.
	 */
	TRANSACTION,
	/**
	 * In its transaction, after the look at the deadline, before its fence is sent. Only
	 * the fence refuses it afterwards.
	 */
	FENCE,
	/**
	 * After its fence was written, before its commit is sent. Whoever takes over waits
	 * for it.
	 */
	COMMIT,
	/**
	 * In a run of a scheduled job.
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
