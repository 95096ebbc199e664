package dev.dblock.benchmarks;

import org.bson.Document;

/**
 * Reads numbers from JSON, where a small long has become an integer.
 */
final class Numbers {

	private Numbers() {
	}

	static long integer(Document document, String key) {
		return document.get(key, Number.class).longValue();
	}

	static double real(Document document, String key) {
		return document.get(key, Number.class).doubleValue();
	}

}
