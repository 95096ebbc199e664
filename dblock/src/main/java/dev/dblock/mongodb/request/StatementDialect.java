package dev.dblock.mongodb.request;

/**
 * The dialect in which requests are written for the server.
 */
public enum StatementDialect {

	/**
	 * Detected at first use.
	 */
	AUTO,

	/**
	 * Updates with an aggregation pipeline, decided by the server's own clock. For
	 * MongoDB 4.4 and later.
	 */
	PIPELINE,

	/**
	 * Classic update operators, with samples of the server's clock. For Amazon
	 * DocumentDB, older servers, and embedded replacements.
	 */
	CLASSIC

}
