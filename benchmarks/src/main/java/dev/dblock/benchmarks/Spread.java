package dev.dblock.benchmarks;

import java.util.Collection;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A median, and how far the values lie apart.
 *
 * @param median the median
 * @param lower the lower quartile
 * @param upper the upper quartile
 * @param count how many values there are
 */
record Spread(double median, double lower, double upper, int count) {

	static Spread of(Collection<Double> values) {
		return new Spread(percentile(values, 50), percentile(values, 25), percentile(values, 75), values.size());
	}

	/**
	 * The spread of the ratios of values that belong together.
	 */
	static Spread ofRatios(List<Double> values, List<Double> others) {
		return of(IntStream.range(0, Math.min(values.size(), others.size()))
			.mapToObj((index) -> values.get(index) / others.get(index))
			.toList());
	}

	/**
	 * The spread of the differences of values that belong together.
	 */
	static Spread ofDifferences(List<Double> values, List<Double> others) {
		return of(IntStream.range(0, Math.min(values.size(), others.size()))
			.mapToObj((index) -> values.get(index) - others.get(index))
			.toList());
	}

	/**
	 * A percentile, between two values by their distance.
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
