package dev.dblock.benchmarks;

import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Median of values with their quartiles.
 *
 * @param median the median
 * @param lower the lower quartile
 * @param upper the upper quartile
 * @param count the number of values
 */
record Spread(double median, double lower, double upper, int count) {

	static Spread of(Collection<Double> values) {
		return new Spread(percentile(values, 50), percentile(values, 25), percentile(values, 75), values.size());
	}

	/**
	 * Return the spread of the ratios of corresponding values.
	 */
	static Spread ofRatios(List<Double> values, List<Double> others) {
		return of(IntStream.range(0, Math.min(values.size(), others.size()))
			.mapToObj((index) -> values.get(index) / others.get(index))
			.toList());
	}

	/**
	 * Return the spread of the differences of corresponding values.
	 */
	static Spread ofDifferences(List<Double> values, List<Double> others) {
		return of(IntStream.range(0, Math.min(values.size(), others.size()))
			.mapToObj((index) -> values.get(index) - others.get(index))
			.toList());
	}

	/**
	 * Return a percentile, interpolated linearly between two values.
	 */
	static double percentile(Collection<Double> values, double percent) {
		if (values.isEmpty()) {
			throw new IllegalArgumentException("There is no percentile of nothing");
		}
		double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
		double position = percent / 100 * (sorted.length - 1);
		int below = (int) position;
		int above = Math.min(below + 1, sorted.length - 1);
		return sorted[below] + (position - below) * (sorted[above] - sorted[below]);
	}

}
