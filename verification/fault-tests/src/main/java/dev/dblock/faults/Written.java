package dev.dblock.faults;

/**
 * Outcome of the write of a section.
 */
enum Written {

	/**
	 * There was no write.
	 */
	NOTHING,
	/**
	 * There is no answer. The write may have been applied or not.
	 */
	UNKNOWN,
	/**
	 * The server has confirmed the write.
	 */
	CONFIRMED,
	/**
	 * The write was rejected and changed nothing.
	 */
	REFUSED,
	/**
	 * The fence of its transaction was sent, and the rest is unknown. The transaction may
	 * still be open on the server.
	 */
	FENCED,
	/**
	 * The write was rejected by the check of the handle, before the fence of its
	 * transaction was sent.
	 */
	REFUSED_BY_DEADLINE,
	/**
	 * The write was rejected by the fence of its transaction, because another holder had
	 * taken over the lock.
	 */
	REFUSED_BY_FENCE

}
