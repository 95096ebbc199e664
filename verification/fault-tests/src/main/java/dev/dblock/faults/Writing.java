package dev.dblock.faults;

/**
 * Ways in which a section writes its data. It first reads a number, and writes the next
 * number at its end.
 */
enum Writing {

	/**
	 * No write.
	 */
	NONE,
	/**
	 * As if a lock were sufficient.
	 */
	UNFENCED,
	/**
	 * With a token. The data rejects a request if it has seen a higher token.
	 */
	TOKEN,
	/**
	 * In a transaction.
	 */
	TRANSACTION

}
