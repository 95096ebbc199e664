package dev.dblock.benchmarks;

/**
 * Limits logging to warnings. The class path also contains the logging settings of the
 * tests, which would take precedence.
 */
final class Logging {

	private Logging() {
	}

	static void configure() {
		System.setProperty("logback.configurationFile", "logback-benchmarks.xml");
	}

}
