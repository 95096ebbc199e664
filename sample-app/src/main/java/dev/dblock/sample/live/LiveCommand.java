package dev.dblock.sample.live;

/**
 * Commands that the buttons of the page send to an instance.
 */
enum LiveCommand {

	/** Make the report, unless another instance is making it. */
	REPORT,

	/** Wait for the lock of the report, then make it. */
	ASK,

	/** Stop the process with a signal until all its leases have ended. */
	PAUSE,

	/** Close the application: work ends, and locks are released. */
	STOP,

	/** End the process at once, as {@code kill -9} does. */
	KILL

}
