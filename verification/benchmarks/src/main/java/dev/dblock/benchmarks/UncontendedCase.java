package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * P1: a lock without contention.
 */
final class UncontendedCase implements BenchmarkCase {

	private static final List<Subject> SUBJECTS = List.of(Subject.RAW, Subject.UNREPEATED, Subject.DBLOCK,
			Subject.SHEDLOCK, Subject.REDISSON);

	@Override
	public String id() {
		return "P1";
	}

	@Override
	public String title() {
		return "acquire + release, uncontended";
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		Map<String, Turns.Operation> operations = new LinkedHashMap<>();
		List<Locks> all = new ArrayList<>();
		for (Subject subject : SUBJECTS) {
			if (bench.has(subject)) {
				Locks locks = bench.lab().locks(subject);
				all.add(locks);
				operations.put(subject.name(), () -> locks.enter("alone").leave());
			}
		}
		WarmUp.run(all, bench.pick(1000, 20));
		Scores scores = new Rounds(bench.pick(10, 2), bench.pick(60, 5), Duration.ofMillis(500))
			.run(new Turns(operations));
		return List.of(scores.line(id(), title(), Unit.NANOS, Subject.RAW, Bound.atMost(1.10)),
				scores.line(id(), title(), Unit.NANOS, Subject.UNREPEATED),
				scores.line(id(), title(), Unit.NANOS, Subject.SHEDLOCK),
				scores.line(id(), title(), Unit.NANOS, Subject.REDISSON));
	}

}
