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
	REFUSED

}
