package dev.dblock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * P2: a lock that another holder has. The other holder has its own engine and
 * connections. It runs in this JVM, which makes no difference to the server.
 */
final class RefusalCase implements BenchmarkCase {

	private static final String TAKEN = "taken";

	private static final List<Subject> SUBJECTS = List.of(Subject.DBLOCK, Subject.REDISSON);

	@Override
	public String id() {
		return "P2";
	}

	@Override
	public String title() {
		return "refused, held elsewhere";
	}

	@Override
	public List<Line> run(Bench bench) throws Exception {
		List<Locks.Section> held = new ArrayList<>();
		try (Lab elsewhere = new Lab(bench.addresses())) {
			Map<String, Turns.Operation> operations = new LinkedHashMap<>();
			operations.put(Subject.RAW.name(), () -> bench.lab().locks(Subject.RAW).tryEnter(TAKEN));
			for (Subject subject : SUBJECTS) {
				if (bench.has(subject)) {
					held.add(elsewhere.locks(subject).enter(TAKEN));
					operations.put(subject.name(), () -> refused(bench.lab().locks(subject), TAKEN));
				}
			}
			Scores scores = new Rounds(bench.pick(10, 3), bench.pick(40, 5), Duration.ofMillis(500))
				.run(new Turns(operations));
			held.forEach(Locks.Section::leave);
			return List.of(
					scores.line(id(), title(), Unit.NANOS, Subject.RAW, Bound.atMost(1.8))
						.comparedWith("raw no-op findAndModify"),
					scores.line(id(), title(), Unit.NANOS, Subject.REDISSON), heldHere(bench));
		}
	}

	private static void refused(Locks locks, String name) {
		if (locks.tryEnter(name) != null) {
			throw new IllegalStateException("'" + name + "' was granted, though another holder has it");
		}
	}

	private Line heldHere(Bench bench) throws InterruptedException {
		SentCommands sent = new SentCommands();
		int attempts = bench.pick(100_000, 10_000);
		try (Lab here = new Lab(bench.addresses(), sent)) {
			Locks locks = here.locks(Subject.DBLOCK);
			Locks.Section section = locks.enter("mine");
			long before = sent.acquires();
			long start = System.nanoTime();
			for (int i = 0; i < attempts; i++) {
				refused(locks, "mine");
			}
			long nanos = System.nanoTime() - start;
			Line line = Line.absolute(id(), "refused, held in this process: requests",
					Quantity.count(sent.acquires() - before), Bound.atMost(0),
					"%,d attempts, %s each".formatted(attempts, Quantity.nanos((double) nanos / attempts)));
			section.leave();
			return line;
		}
	}

}
