package dev.dblock.mongodb.request;

/**
 * In which form requests are written for the server.
 */
public enum StatementDialect {

	/**
	 * Found out at first use.
	 */
	AUTO,

	/**
	 * Updates with an aggregation pipeline, decided by the server's own clock: MongoDB
	 * 4.4 and later.
	 */
	PIPELINE,

	/**
	 * Classic update operators, and the server's clock followed by samples: Amazon
	 * DocumentDB, older servers, embedded stand-ins.
	 */
	CLASSIC

}
