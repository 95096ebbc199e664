package dev.dblock.benchmarks;

import java.util.Map;

import org.openjdk.jmh.annotations.Mode;

/**
 * What JMH measures.
 *
 * @param key what its scores are found by
 * @param method the benchmark's class and method
 * @param parameters its parameters
 * @param mode what is measured
 * @param threads how many threads there are
 */
record Trial(String key, String method, Map<String, String> parameters, Mode mode, int threads) {
}
