package dev.dblock.benchmarks;

import java.util.Map;

import org.openjdk.jmh.annotations.Mode;

/**
 * One measurement by JMH.
 *
 * @param key the key of its scores
 * @param method the class and method of the benchmark
 * @param parameters the parameters of the benchmark
 * @param mode the mode of the measurement
 * @param threads the number of threads
 */
record Trial(String key, String method, Map<String, String> parameters, Mode mode, int threads) {
}
