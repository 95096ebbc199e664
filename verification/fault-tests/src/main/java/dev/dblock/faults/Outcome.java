package dev.dblock.faults;

/**
 * Outcome of an attempt.
 */
enum Outcome {

	/**
	 * The process ended before it could record the outcome.
	 */
	OPEN,
	/**
	 * The section was completed and its lock released.
	 */
	RELEASED,
	/**
	 * The lock was lost during the section, and its handle reported it.
	 */
	LOST,
	/**
	 * The lock was not available in time.
	 */
	UNAVAILABLE,
	/**
	 * The server could not be reached.
	 */
	FAILED,
	/**
	 * The process was requested to stop.
	 */
	STOPPED

}
