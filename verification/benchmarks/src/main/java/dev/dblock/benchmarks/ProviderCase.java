package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * P13: a lock without contention through the interface of ShedLock.
 */
final class ProviderCase implements BenchmarkCase {

	private static final List<Subject> SUBJECTS = List.of(Subject.SHEDLOCK, Subject.PROVIDER, Subject.BOTH_PROVIDERS);

	@Override
	public String id() {
		return "P13";
	}

	@Override
	public String title() {
		return "acquire + release by ShedLock's interface";
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		Map<String, Turns.Operation> operations = new LinkedHashMap<>();
		List<Locks> all = new ArrayList<>();
		for (Subject subject : SUBJECTS) {
			Locks locks = bench.lab().locks(subject);
			all.add(locks);
			operations.put(subject.name(), () -> locks.enter("provided").leave());
		}
		WarmUp.run(all, bench.pick(1000, 20));
		Scores scores = new Rounds(bench.pick(10, 2), bench.pick(60, 5), Duration.ofMillis(500))
			.run(new Turns(operations));
		return List.of(line(scores, Subject.PROVIDER, title(), Bound.atMost(1.05)),
				line(scores, Subject.BOTH_PROVIDERS, "the same, beside ShedLock's provider", Bound.atMost(2.10)));
	}

	private Line line(Scores scores, Subject subject, String what, Bound bound) {
		return Line.compared(id(), what, new Quantity(scores.median(subject), Unit.NANOS), Subject.SHEDLOCK.label(),
				new Quantity(scores.median(Subject.SHEDLOCK), Unit.NANOS), scores.ratio(subject, Subject.SHEDLOCK),
				bound);
	}

}
