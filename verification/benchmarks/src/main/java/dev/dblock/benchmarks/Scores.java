package dev.dblock.benchmarks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * Scores of each round, by the key of the measurement.
 */
final class Scores {

	private final Map<String, List<Double>> scores = new HashMap<>();

	void add(String key, double score) {
		this.scores.computeIfAbsent(key, (absent) -> new ArrayList<>()).add(score);
	}

	void add(Subject subject, double score) {
		add(subject.name(), score);
	}

	List<Double> of(String key) {
		return this.scores.getOrDefault(key, List.of());
	}

	List<Double> of(Subject subject) {
		return of(subject.name());
	}

	/**
	 * Add the medians of all scores to others.
	 */
	void addMediansTo(Scores others) {
		this.scores.forEach((key, values) -> others.add(key, Spread.of(values).median()));
	}

	double median(Subject subject) {
		return Spread.of(of(subject)).median();
	}

	Spread ratio(Subject subject, Subject reference) {
		return Spread.ofRatios(of(subject), of(reference));
	}

	/**
	 * Create a line that compares dblock with another subject.
	 */
	Line line(String id, String what, Unit unit, Subject reference) {
		return line(id, what, unit, reference, null);
	}

	/**
	 * Create a line that compares dblock with another subject, with a bound.
	 */
	Line line(String id, String what, Unit unit, Subject reference, @Nullable Bound bound) {
		if (of(reference).isEmpty()) {
			return Line.missing(id, what + ", against " + reference.label(), bound, RedisServer.MISSING);
		}
		return Line.compared(id, what, new Quantity(median(Subject.DBLOCK), unit), reference.label(),
				new Quantity(median(reference), unit), ratio(Subject.DBLOCK, reference), bound);
	}

}
