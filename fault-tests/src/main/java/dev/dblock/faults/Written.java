package dev.dblock.faults;

/**
 * What became of the write of a section.
 */
enum Written {

	/**
	 * There was none.
	 */
	NOTHING,
	/**
	 * Its answer is missing: it may have been applied or not.
	 */
	UNKNOWN,
	/**
	 * The server has confirmed it.
	 */
	CONFIRMED,
	/**
	 * It was refused and changed nothing.
	 */
	REFUSED,
	/**
	 * The fence of its transaction was sent, and nothing is known of what came after
	 * that: the server may still have the transaction open.
	 */
	FENCED,
	/**
	 * Refused before the fence of its transaction was sent: by the look at the handle.
	 */
	REFUSED_BY_DEADLINE,
	/**
	 * Refused by the fence of its transaction: somebody else had taken the lock over.
	 */
	REFUSED_BY_FENCE

}
