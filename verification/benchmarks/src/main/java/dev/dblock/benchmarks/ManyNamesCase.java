package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.openjdk.jmh.annotations.Mode;

/**
 * P9: many threads, each under a name of its own.
 */
final class ManyNamesCase implements BenchmarkCase {

	private static final int THREADS = 64;

	private static final int NAMES = 10_000;

	private static final List<Subject> SUBJECTS = List.of(Subject.RAW, Subject.UNREPEATED, Subject.DBLOCK,
			Subject.SHEDLOCK, Subject.REDISSON);

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
		List<Subject> subjects = SUBJECTS.stream().filter(bench::has).toList();
		for (Subject subject : subjects) {
			createAll(bench.lab().locks(subject), bench.pick(NAMES, 100));
		}
		Scores scores = new Rounds(bench.pick(2, 1), bench.pick(24, 3), Duration.ofMillis(bench.pick(600, 300)))
			.run(bench.lab(), subjects.stream().map(ManyNamesCase::trial).toList());
		return List.of(scores.line(id(), title(), Unit.PER_SECOND, Subject.RAW, Bound.atLeast(0.9)),
				scores.line(id(), title(), Unit.PER_SECOND, Subject.UNREPEATED),
				scores.line(id(), title(), Unit.PER_SECOND, Subject.SHEDLOCK),
				scores.line(id(), title(), Unit.PER_SECOND, Subject.REDISSON));
	}

	/**
	 * Create all documents in advance: the first use of a name creates its document,
	 * which costs more.
	 */
	private static void createAll(Locks locks, int names) throws Exception {
		ManyThreads.forEach(0, names, (number) -> locks.enter(SectionBenchmark.name(number)).leave());
	}

	private static Trial trial(Subject subject) {
		return new Trial(subject.name(), "SectionBenchmark.enterAndLeave",
				Map.of("subject", subject.name(), "names", Integer.toString(NAMES)), Mode.Throughput, THREADS);
	}

}
