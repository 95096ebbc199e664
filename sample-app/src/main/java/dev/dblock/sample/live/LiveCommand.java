package dev.dblock.sample.live;

/**
 * What the buttons of the page ask of an instance.
 */
enum LiveCommand {

	/** Make the report, if nobody else makes it. */
	REPORT,

	/** Wait for the report's lock, then make it. */
	ASK,

	/** Stop the process with a signal until any lease of it is over. */
	PAUSE,

	/** Close the application: work ends, locks are given back. */
	STOP,

	/** End the process at once, as {@code kill -9} does. */
	KILL

}
