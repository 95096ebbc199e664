package dev.dblock.faults;

/**
 * What became of an attempt.
 */
enum Outcome {

	/**
	 * The process did not live to record it.
	 */
	OPEN,
	/**
	 * The section was done and its lock released.
	 */
	RELEASED,
	/**
	 * The lock was lost while the section went on, and its handle said so.
	 */
	LOST,
	/**
	 * The lock was not available in time.
	 */
	UNAVAILABLE,
	/**
	 * The server could not be asked.
	 */
	FAILED,
	/**
	 * The process was told to stop.
	 */
	STOPPED

}
