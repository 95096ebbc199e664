package dev.dblock.benchmarks;

import java.util.List;

/**
 * One case of the table.
 */
interface BenchmarkCase {

	/**
	 * Its number, as {@code --cases} takes it.
	 */
	String id();

	/**
	 * What it measures.
	 */
	String title();

	/**
	 * Measure.
	 * @param bench the servers, the subjects and how long to go on
	 * @return what came out
	 * @throws Exception when it could not be measured
	 */
	List<Line> run(Bench bench) throws Exception;

}
