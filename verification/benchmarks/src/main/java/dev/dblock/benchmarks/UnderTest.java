package dev.dblock.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * Passes the object under test to the benchmarks, which JMH creates. They run in the JVM
 * that prepared it.
 */
final class UnderTest {

	private static volatile @Nullable Object current;

	private UnderTest() {
	}

	static void set(Object object) {
		current = object;
	}

	static <T> T get(Class<T> type) {
		Object object = current;
		if (!type.isInstance(object)) {
			throw new IllegalStateException(
					"The benchmarks are run by verification/benchmarks/run, not by JMH's own main class");
		}
		return type.cast(object);
	}

}
