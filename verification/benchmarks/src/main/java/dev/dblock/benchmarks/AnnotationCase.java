package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.openjdk.jmh.annotations.Mode;

/**
 * P8: overhead of the annotation.
 */
final class AnnotationCase implements BenchmarkCase {

	private static final String ANNOTATED = "annotated";

	private static final String TEMPLATE = "template";

	@Override
	public String id() {
		return "P8";
	}

	@Override
	public String title() {
		return "annotation around an empty method, refused locally: more than the template";
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		List<Trial> trials = List.of(trial(ANNOTATED), trial(TEMPLATE));
		Scores scores = new Rounds(bench.pick(6, 2), bench.pick(20, 3), Duration.ofMillis(bench.pick(400, 200)))
			.run(bench.lab(), trials);
		Spread more = Spread.ofDifferences(scores.of(ANNOTATED), scores.of(TEMPLATE));
		String note = "annotation %s, template %s; quartiles of the difference %s and %s; skipped, INFO not logged"
			.formatted(Quantity.nanos(Spread.of(scores.of(ANNOTATED)).median()),
					Quantity.nanos(Spread.of(scores.of(TEMPLATE)).median()), Quantity.nanos(more.lower()),
					Quantity.nanos(more.upper()));
		return List.of(Line.absolute(id(), title(), Quantity.nanos(more.median()), Bound.atMost(2000), note));
	}

	private static Trial trial(String method) {
		return new Trial(method, "AnnotationBenchmark." + method, Map.of(), Mode.AverageTime, 1);
	}

}
