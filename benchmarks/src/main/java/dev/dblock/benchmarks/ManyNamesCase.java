package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.openjdk.jmh.annotations.Mode;

/**
 * P9: many threads, and a name for each of them.
 */
final class ManyNamesCase implements BenchmarkCase {

	private static final int THREADS = 64;

	private static final int NAMES = 10_000;

	private static final List<Subject> SUBJECTS = List.of(Subject.RAW, Subject.DBLOCK, Subject.SHEDLOCK,
			Subject.REDISSON);

	@Override
	public String id() {
		return "P9";
	}

	@Override
	public String title() {
		return "%,d names, %d threads, acquire + release".formatted(NAMES, THREADS);
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		List<Trial> trials = SUBJECTS.stream().filter(bench::has).map(ManyNamesCase::trial).toList();
		// The first rounds create the documents
		Scores scores = new Rounds(bench.pick(6, 1), bench.pick(24, 3), Duration.ofMillis(bench.pick(600, 300)))
			.run(bench.lab(), trials);
		return List.of(scores.line(id(), title(), Unit.PER_SECOND, Subject.RAW, Bound.atLeast(0.9)),
				scores.line(id(), title(), Unit.PER_SECOND, Subject.SHEDLOCK),
				scores.line(id(), title(), Unit.PER_SECOND, Subject.REDISSON));
	}

	private static Trial trial(Subject subject) {
		return new Trial(subject.name(), "SectionBenchmark.enterAndLeave",
				Map.of("subject", subject.name(), "names", Integer.toString(NAMES)), Mode.Throughput, THREADS);
	}

}
