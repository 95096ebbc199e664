package dev.dblock.faults;

/**
 * How a section writes to its data: it reads a number first and writes the next one at
 * its end.
 */
enum Writing {

	/**
	 * Not at all.
	 */
	NONE,
	/**
	 * As if a lock were enough.
	 */
	UNFENCED,
	/**
	 * Each request refused by the data when it has seen a higher token.
	 */
	TOKEN,
	/**
	 * In a transaction.
	 */
	TRANSACTION

}
