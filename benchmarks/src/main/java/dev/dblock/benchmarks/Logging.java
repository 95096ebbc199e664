package dev.dblock.benchmarks;

/**
 * Has only warnings logged. The class path holds the tests' own settings too, which would
 * come first.
 */
final class Logging {

	private Logging() {
	}

	static void configure() {
		System.setProperty("logback.configurationFile", "logback-benchmarks.xml");
	}

}
