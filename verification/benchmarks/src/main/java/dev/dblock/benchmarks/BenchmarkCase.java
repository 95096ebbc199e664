package dev.dblock.benchmarks;

import java.util.List;

/**
 * One case of the results table.
 */
interface BenchmarkCase {

	/**
	 * Return the id, as {@code --cases} accepts it.
	 */
	String id();

	/**
	 * Describe the measurement.
	 */
	String title();

	/**
	 * Run the measurement.
	 * @param bench the servers, the subjects and the length of the measurement
	 * @return the results
	 * @throws Exception if the measurement failed
	 */
	List<Line> run(Bench bench) throws Exception;

}
